"""Forms of English words, and how the name of a relation is used in a sentence.

`shape_of("directed by")` is a *post* phrase with the noun *director*: "films directed by X", "the director
of X". `shape_of("treats")` is a *verb*: "drugs that treat X", "what X treats". `shape_of("member of")` is a
*role*: "members of X". `shape_of("has genre")` is a *noun*: "films whose genre is X", "genres of X".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from clew.text.lexicon import ADJECTIVE, NOUN, Lexicon
from clew.text.normalise import Token

Form = Literal["noun", "role", "post", "verb"]

PREPOSITIONS = frozenset(
    "about above across after against along among around as at before behind below beneath beside between by"
    " during for from in inside into near on onto over since through to towards under until upon with"
    " within".split()
)
_BE = frozenset("is are was were be been".split())
_HAVE = frozenset("has have had".split())
_MODAL = frozenset("can cannot could may might must shall should will would did".split())
_PAST_ONLY = frozenset(
    "ate became began bit blew broke came chose drank drew drove fell flew forgot froze gave grew hid knew"
    " rang ran rode rose sang shook spoke sprang stole swam swore threw took went woke wore wrote".split()
)
"""Past tenses that are no participles."""
_INTRANSITIVE = frozenset(
    "act appear arrive belong collaborate compete debut depart die emigrate expire graduate happen interact"
    " join leave live occur participate perform play reside resign respond retire serve star study travel"
    " work".split()
)
"""Verbs that one says of who does it: people *that died in Oslo*, not *died in Oslo*."""
MORE_OFTEN_VERB = 0.6
"""Share of the uses as a verb from which a name that ends in *s* is one: *causes*, not *works*."""
OFTEN_VERB_OF_PERSONS = 1 / 3
"""The same where it leads from persons to things: captains' *commands*, not their *interests*."""
PERSON_SHARE = 0.8
"""Share of a noun's meanings that are persons from which *who* is said of it: of drivers, not of servers."""
_VERBS = frozenset(("lacks", "borders", "encodes"))
"""Verbs that the lexicon lacks or has as nouns."""
_PAST_FORM = re.compile(r"[a-z]+(?:ed|[aou]wn|orn|ught|en)$")
_THIRD_PERSON = re.compile(r"[a-z]+[^aius\W]s$|[a-z]+(?:sses|shes|ches|xes|uses|oes)$")
_PLURALS = {
    "person": "people", "child": "children", "foot": "feet", "tooth": "teeth", "mouse": "mice",
    "goose": "geese", "ox": "oxen",
    "criterion": "criteria", "phenomenon": "phenomena", "medium": "media", "life": "lives",
    "wife": "wives", "knife": "knives", "leaf": "leaves", "shelf": "shelves", "half": "halves",
    "thief": "thieves", "wolf": "wolves", "loaf": "loaves",
}  # fmt: skip
_UNCHANGED = frozenset(
    "series species staff equipment software hardware firmware aircraft spacecraft sheep fish deer"
    " information data news furniture music police personnel headquarters barracks crossroads works".split()
)
_CAPITALS = re.compile(r"[A-Z]{2,}s")
"""Several of what capitals name: *LPs*."""
_CODES = re.compile(r"[a-z]+\d+s")
"""Several of what a code names: *P1s*."""
_SINGULAR = {"people": "person", "lives": "live"}


@dataclass(frozen=True, slots=True)
class Shape:
    """How a relation's name is used: its form, said of one thing and of many, and a noun of what it leads to.

    noun   one "genre", many "genres": whose genre is X
    role   one "member", many "members": a member of X
    post   one and many "directed by", noun "director": directed by X
    verb   one "treats", many "treat": that treats X; "shows" with noun "symptom": that shows the symptom X
    """

    form: Form
    one: str
    many: str
    noun: str = ""


@lru_cache(maxsize=1 << 14)
def shape_of(label: str, of_values: bool = False, by_persons: bool = False) -> Shape:
    """How the name of a relation is used, in words as `words_of_label` gives it.

    With `of_values` it leads to values: "founded in 1998", elsewhere "that founded X". With `by_persons` it
    leads from persons to things: "who commands X".
    """
    words = label.split()
    if len(words) > 1 and words[0] in _HAVE and words[1] not in _BE:
        return _noun(words[1:])
    if len(words) > 1 and words[0] in _BE:
        return _being(words[0], words[1:], of_values)
    if len(words) > 1 and (words[0] in _MODAL or words[0] in ("does", "do", *_HAVE)):
        many = [{"does": "do", "has": "have"}.get(words[0], words[0]), *words[1:]]
        return Shape("verb", label, " ".join(many))
    if len(words) > 1 and words[0] == "not":
        return Shape("post", label, label)
    return _plain(words, of_values, by_persons)


def _being(verb: str, words: list[str], of_values: bool) -> Shape:
    """*Is part of*, *was born in*, *is active*."""
    rest = _plain(words, of_values)
    if rest.form in ("role", "post"):
        return rest
    if words[0] == "not" or words[-1] in PREPOSITIONS:
        return Shape("post", " ".join(words), " ".join(words))
    plural = {"is": "are", "was": "were"}.get(verb, verb)
    return Shape("verb", " ".join((verb, *words)), " ".join((plural, *words)))


def _plain(words: list[str], of_values: bool, by_persons: bool = False) -> Shape:
    """A name without *is* or *has* before it."""
    text, last = " ".join(words), words[-1]
    if len(words) == 1:
        return _of_one_word(text, of_values, OFTEN_VERB_OF_PERSONS if by_persons else MORE_OFTEN_VERB)
    if last in PREPOSITIONS or last == "of":
        return _before_preposition(words, of_values)
    if words[0] in PREPOSITIONS:
        return Shape("post", words[0], words[0], " ".join(words[1:]))
    if of_values:
        return _noun(words)
    names_many = singular(last) != last
    if _is_third_person(words[0]):
        return replace(_verb(words[:1]), noun=" ".join(words[1:]))
    if not names_many and (words[0] in _PAST_ONLY or is_participle(words[0])):
        return Shape("verb", words[0], words[0], " ".join(words[1:]))
    return _noun(words)


def _of_one_word(word: str, of_values: bool, least: float) -> Shape:
    """*Genre*, *treats*, *directed*, *starring*, *knows*."""
    lexicon = Lexicon.load()
    if word in _PAST_ONLY or is_participle(word):
        is_said_of_it = of_values and word not in _PAST_ONLY and _base_verb(word) not in _INTRANSITIVE
        return Shape("post" if is_said_of_it else "verb", word, word)
    if word.endswith("ing") and lexicon.verb(word) and not of_values:
        return Shape("post", word, word)
    if _is_third_person(word, least):
        return _verb([word])
    if lexicon.mostly_verb(word) and not of_values:
        return Shape("verb", _third_person(word), word)
    return _noun([word])


def _before_preposition(words: list[str], of_values: bool) -> Shape:
    """*Directed by*, *born in*, *works at*, *member of*, *degree from*."""
    body, last = words[:-1], words[-1]
    if of_values and last in ("since", "until") and not any(map(is_participle, body)):
        return Shape("noun", f'"{" ".join(words)}"', f'"{" ".join(words)}"')
    participles = [at for at, word in enumerate(body) if is_participle(word)]
    if participles:
        said = words[participles[-1] :]
        if _base_verb(said[0]) in _INTRANSITIVE and last != "by":
            return Shape("verb", " ".join(said), " ".join(said))
        return Shape("post", " ".join(said), " ".join(said), _agent(said[0]) if said[1:] == ["by"] else "")
    if body[0] in _PAST_ONLY:
        return Shape("verb", " ".join(words), " ".join(words))
    if _is_third_person(body[0], MORE_OFTEN_VERB if last == "of" else 0.0):
        return _verb(words)
    lexicon = Lexicon.load()
    if last != "of" and len(body) == 1 and lexicon.verb(body[0]) and not _is_adjective(body[0]):
        return Shape("verb", f"{_third_person(body[0])} {last}", " ".join(words))
    is_noun = bool(lexicon.classes(singular(body[-1])))
    if last == "of":
        shape = _noun(body)
        return Shape("role", shape.one, shape.many)
    is_had = is_noun and not _is_adjective(body[-1])
    text = f"with {indefinite(' '.join(body))} {last}" if is_had else " ".join(words)
    return Shape("post", text, text)


def _is_adjective(word: str) -> bool:
    return word.endswith(("ible", "able", "ent", "ant", "ar", "ous", "ful", "al", "ive", "ic", "ing"))


def _agent(participle: str) -> str:
    """The noun of who does it, if it is in use: *director*, no *orderer*."""
    lexicon = Lexicon.load()
    return next((noun for noun in lexicon.agent(participle) if lexicon.uses(noun, NOUN)), "")


def _noun(words: list[str]) -> Shape:
    text = " ".join(words)
    one = singular_noun(text)
    return Shape("noun", one, plural(one))


def _verb(words: list[str]) -> Shape:
    return Shape("verb", " ".join(words), " ".join((_base_verb(words[0]), *words[1:])))


def is_participle(word: str) -> bool:
    """Whether a word may be a past participle: *directed*, *written*, *made*, not *wrote*."""
    if word in _PAST_ONLY or not Lexicon.load().verb(word):
        return False
    return _base_verb(word) != word and bool(_PAST_FORM.fullmatch(word) or not word.endswith(("s", "ing")))


def _base_verb(word: str) -> str:
    """The base form of a verb: *treats* is *treat*, *written* is *write*."""
    lexicon = Lexicon.load()
    known = next((base for base in lexicon.lemmas(word) if base != word and lexicon.verb(base)), word)
    return word[:-1] if word in _VERBS else known


def _is_third_person(word: str, least: float = 0.0) -> bool:
    """Whether a word is a verb in the third person: at `least` such a share of its uses is as a verb."""
    if word in _VERBS or not _THIRD_PERSON.fullmatch(word):
        return word in _VERBS
    return _base_verb(word) != word and (not least or Lexicon.load().verb_share(word) >= least)


def present(word: str) -> tuple[str, str]:
    """A verb in *ing* as it is said of one and of many: *starring* is *stars* and *star*; or empty."""
    base = _base_verb(word) if word.endswith("ing") else word
    return ("", "") if base == word else (_third_person(base), base)


def is_quality(label: str) -> bool:
    """Whether a name is an adjective: *vegetarian*, *due*, not *parking*."""
    lexicon, word = Lexicon.load(), label.split()[-1]
    return lexicon.uses(word, ADJECTIVE) > lexicon.uses(word, NOUN)


def comparative(adjective: str) -> str:
    """*Old* is *older*, *heavy* is *heavier*, *much* is *more*, *expensive* is *more expensive*."""
    if adjective in ("much", "many"):
        return "more"
    if re.search(r"[^aeiou]y$", adjective):
        return f"{adjective[:-1]}ier"
    if len(re.findall(r"[aeiouy]+", adjective.removesuffix("e"))) > 1:
        return f"more {adjective}"
    doubled = adjective[-1] if re.search(r"[^aeiou][aeiou][bdgmnt]$", adjective) else ""
    return f"{adjective.removesuffix('e')}{doubled}er"


def negated(verb: str) -> str:
    """A verb as it is said of many with *not*: *treat* is *do not treat*, *wrote* is *did not write*."""
    first, _, rest = verb.partition(" ")
    if first in _BE or first in _MODAL or first in ("have", "do"):
        return f"cannot {rest}" if first == "can" else f"{first} not {rest}"
    if first in _PAST_ONLY or is_participle(first):
        return f"did not {_base_verb(first)} {rest}".strip()
    return f"do not {verb}"


def _third_person(verb: str) -> str:
    """*Work* is *works*, *carry* is *carries*."""
    return "has" if verb == "have" else _with_s(verb)


def _with_s(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


_HEAD = re.compile(r"(?P<head>.*?\S)(?P<rest> (?:of|in|for|from|at|to|with|by|per|on) .+)?")
"""A noun phrase up to its first preposition: *date of birth*."""


def plural(noun: str) -> str:
    """A noun phrase in the plural: *film* is *films*, *date of birth* is *dates of birth*, *man* is *men*."""
    return _with_head(noun, _plural)


def _with_head(noun: str, change: Callable[[str], str]) -> str:
    """A noun phrase with another form of the noun that it ends in before its first preposition."""
    match = _HEAD.fullmatch(noun)
    if match is None:
        return noun
    first, _, last = match["head"].rpartition(" ")
    return f"{first} {change(last)}".strip() + (match["rest"] or "")


def _plural(word: str) -> str:
    low = word.lower()
    if low in _PLURALS:
        return _PLURALS[low]
    if low in _UNCHANGED or low in PREPOSITIONS or (len(low) > 3 and singular(low) != low):
        return word
    if low.endswith("man") and low not in ("human", "german", "roman", "talisman", "shaman"):
        return f"{word[:-3]}men"
    if low.endswith("sis"):
        return f"{word[:-2]}es"
    return f"{word}s" if word.isupper() else _with_s(word)


def singular_noun(noun: str) -> str:
    """A noun phrase in the singular: *starred actors* is *starred actor*."""
    return _with_head(noun, lambda last: last if last in _UNCHANGED else singular(last))


def nouns_of(label: str) -> tuple[str, str]:
    """What a relation is called: its name, and the noun of it."""
    shape = shape_of(label)
    return label, shape.one if shape.form == "noun" else shape.noun


def indefinite(noun: str) -> str:
    """A noun phrase with *a* or *an* before it."""
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


def person_share(noun: str) -> float:
    """How much of the use of a noun is for people: 1.0 of *captain*, 0.5 of *climber*, also a plant."""
    last = singular_noun(noun).split()[-1:]
    return Lexicon.load().classes(last[0]).get("person", 0.0) if last else 0.0


def is_person(noun: str) -> bool:
    """Whether a noun is of people, so that *who* is said of them."""
    return person_share(noun) >= PERSON_SHARE


@lru_cache(maxsize=1 << 14)
def singular(word: str) -> str:
    """A word in lower case without the ending of a plural: by WordNet, or by rule for what that lacks."""
    lexicon = Lexicon.load()
    base = _SINGULAR.get(word) or next(iter(lexicon.lemmas(word)), word)
    is_noun = base != word and bool(lexicon.classes(base)) and not word.endswith(("ed", "ing", "er", "est"))
    if word in _SINGULAR or (base == word and word in lexicon):
        return base
    if is_noun and (word.endswith("s") or not lexicon.mostly_verb(base)):
        return base
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural or _CODES.fullmatch(word) else word


def singular_of(token: Token) -> str:
    """The singular of a word of a text, in lower case."""
    return token.norm[:-1] if _CAPITALS.fullmatch(token.text) else singular(token.norm)
