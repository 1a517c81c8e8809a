"""Questions that a graph cannot answer, made of ones that it can: seeded, from training questions alone.

Of a question its neighbours: a condition taken from a question about another graph, an adjective or
another verb, noun or superlative in it, the first word of a name or the whole name changed for one of
another graph.
Each says which of its characters nothing in the graph carries.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from background import labels as labels_of_world

from clew.query.values import ORDINALS, values_in
from clew.reading.english import ANYONE, FUNCTION, LIGHT, NARROWS_NOTHING
from clew.reading.framing import SOURCES, TALK
from clew.reading.ranker import shipped
from clew.text.inflection import singular
from clew.text.lexicon import ADJECTIVE, ADVERB, NOUN, VERB, Lexicon

_PHRASE = re.compile(
    r"\s((?:in|with|without|while|for|during|that|who|whose|which|on|at|by|from|after|before|under|near|using|because"
    r"|if|when|despite|against|through|among|about|behind|inside|above|where|since)\b[^,?.!;:()\"]*?)\s*[?.!]*$"
)
_MODIFIED = re.compile(r"\b(?:the|which|what|all|any|every|how many)\s+([a-z]{4,})\s+[a-z]{3,}", re.I)
_NOUN_PLACE = re.compile(r"\b(?:the|which|what|all|any|every|how many)\s+(?=[a-z]{4,}s?\b)", re.I)
_WORD = re.compile(r"[^\W\d_]+")
_CLOSING = re.compile(r"\s*[?.!]*\s*$")
LONGEST_PHRASE = 7
COMMON, USED, MOSTLY = 6000, 5, 0.8
"""Adjectives of everyday: so many words of English are more frequent, so often and mostly used as one."""
EVERYDAY, OF_WORLD, MOSTLY_NEAR = 0.5, 0.5, 0.7
"""How many of the adjectives that are put in are of everyday (*big*, *famous*); how many of the nouns are of
the world, and how many near the one whose place they take."""
NEAR, SAME, DRAWN = 0.25, 0.55, 60
"""A noun is near another from this likeness on, and may mean it from that; nouns among which a near one is
looked for."""
_SUPERLATIVE = re.compile(r"\b(?<!\bat )(?:(?:most|least)\s+([a-z]{4,})|([a-z]{3,}est|best|worst))\b")
_COMPARATIVE = re.compile(r"\b(?:(?:more|less)\s+([a-z]{4,})|([a-z]{3,}er|better|worse))\b")
SHORT, SAID_OFTEN = 7, 8
"""Letters of an adjective up to which its superlative is one word; a superlative that so many questions rank
by may be carried by much (*the highest*, *the longest*), and is not put in."""
_IDLE = FUNCTION | TALK | SOURCES | LIGHT | NARROWS_NOTHING | ANYONE


@dataclass(frozen=True)
class Changed:
    """A question that was changed; `spans` are the characters [start, stop) that nothing carries."""

    kind: str
    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pool:
    """What may be put into questions: by the graph that it was taken from, so that none goes back there."""

    phrases: tuple[tuple[str, str], ...]
    modifiers: tuple[tuple[str, str], ...]
    verbs: tuple[tuple[str, str], ...]
    nouns: tuple[tuple[str, str], ...]
    names: tuple[tuple[str, str], ...]
    adjectives: tuple[str, ...]
    superlatives: tuple[str, ...]
    world: tuple[str, ...]

    @classmethod
    def of(cls, questions: Iterable[tuple[str, str]], names: Iterable[tuple[str, str]]) -> Pool:
        """Take phrases, modifiers and verbs out of (graph, question); what two graphs say is no condition."""
        lexicon = Lexicon.load()
        phrases: dict[str, set[str]] = defaultdict(set)
        modifiers: dict[str, set[str]] = defaultdict(set)
        verbs: dict[str, set[str]] = defaultdict(set)
        nouns: dict[str, set[str]] = defaultdict(set)
        said = Counter[str]()
        for graph, text in questions:
            said.update(text[start:stop] for start, stop in superlatives_in(text))
            phrase = _PHRASE.search(text)
            if phrase and 2 <= len(phrase[1].split()) <= LONGEST_PHRASE and phrase[1].islower():
                content = [
                    w
                    for w in _WORD.findall(phrase[1])
                    if w not in FUNCTION and w not in TALK and w not in SOURCES
                ]
                if content and not any(c.isdigit() for c in phrase[1]):
                    phrases[phrase[1]].add(graph)
            for match in _MODIFIED.finditer(text):
                word = match[1].lower()
                if word not in FUNCTION and word not in TALK and not lexicon.mostly_verb(word):
                    modifiers[word].add(graph)
            for word in _WORD.findall(text):
                if is_noun(word):
                    nouns[word].add(graph)
                if (
                    word.islower()
                    and len(word) > 4
                    and word not in FUNCTION
                    and word not in TALK
                    and lexicon.mostly_verb(word)
                ):
                    verbs[word].add(graph)

        def rare(found: dict[str, set[str]], most: int) -> tuple[tuple[str, str], ...]:
            return tuple(sorted((next(iter(g)), t) for t, g in found.items() if len(g) <= most))

        rare_words = rare(modifiers, 3), rare(verbs, 6), rare(nouns, 3)
        return cls(
            rare(phrases, 1),
            *rare_words,
            tuple(sorted(set(names))),
            tuple(everyday_adjectives()),
            tuple(w for w in everyday_superlatives() if said[w] < SAID_OFTEN),
            nouns_of_world(),
        )

    def _other(self, pool: Sequence[tuple[str, str]], graph: str, rng: random.Random) -> str:
        while True:
            source, text = rng.choice(pool)
            if source != graph:
                return text

    def changes(
        self, graph: str, text: str, name_spans: Sequence[tuple[int, int]], rng: random.Random
    ) -> Iterator[Changed]:
        """The neighbours of a question; `name_spans` are the names in it."""
        yield self._with_condition(graph, text, name_spans, rng)
        word = self._with_modifier(graph, text, name_spans, rng)
        if word is not None:
            yield word
        for start, stop in name_spans[:1]:
            name = text[start:stop]
            other = self._other(self.names, graph, rng)
            if " " in name:
                first, new = name.split(" ")[0], other.split(" ")[0]
                yield Changed(
                    "word", text[:start] + new + text[start + len(first) :], ((start, start + len(new)),)
                )
            yield Changed("name", text[:start] + other + text[stop:], ((start, start + len(other)),))
        verb = self._with_verb(graph, text, name_spans, rng)
        if verb is not None:
            yield verb
        noun = self.with_noun(graph, text, name_spans, rng)
        if noun is not None:
            yield noun
        superlative = self.with_superlative(text, name_spans, rng)
        if superlative is not None:
            yield superlative
        comparative = self.with_comparative(text, name_spans, rng)
        if comparative is not None:
            yield comparative

    def _superlative(self, rng: random.Random) -> str:
        return rng.choice(IRREGULAR if rng.random() < MOSTLY_SAID else self.superlatives)

    def with_superlative(
        self, text: str, name_spans: Sequence[tuple[int, int]], rng: random.Random
    ) -> Changed | None:
        """Another superlative in the place of one: *the nicest* for *the oldest*."""
        return self._with_degree("superlative", superlatives_in(text), str, text, name_spans, rng)

    def with_comparative(
        self, text: str, name_spans: Sequence[tuple[int, int]], rng: random.Random
    ) -> Changed | None:
        """Another comparative in the place of one: *nicer than* for *older than*."""
        return self._with_degree("comparative", comparatives_in(text), comparative_of, text, name_spans, rng)

    def _with_degree(
        self,
        kind: str,
        spans: Sequence[tuple[int, int]],
        form_of: Callable[[str], str],
        text: str,
        name_spans: Sequence[tuple[int, int]],
        rng: random.Random,
    ) -> Changed | None:
        """A form of another superlative in the place of one of `spans` that is in no name."""
        places = [span for span in spans if not any(a < span[1] and span[0] < b for a, b in name_spans)]
        if not places:
            return None
        start, stop = rng.choice(places)
        word = form_of(self._superlative(rng))
        at = start + len(word) - len(word.split()[-1])
        return Changed(kind, text[:start] + word + text[stop:], ((at, start + len(word)),))

    def _with_condition(
        self, graph: str, text: str, name_spans: Sequence[tuple[int, int]], rng: random.Random
    ) -> Changed:
        phrase = self._other(self.phrases, graph, rng)
        draw = rng.random()
        closing = _CLOSING.search(text)
        end = closing.start() if closing else len(text)
        if draw < 0.12 and phrase.split()[0] not in ("that", "who", "whose", "which", "where"):
            head = phrase[0].upper() + phrase[1:] + ", "
            return Changed("condition", head + text[0].lower() + text[1:], ((0, len(head) - 2),))
        inner = [stop for _, stop in name_spans if stop < end - 2]
        at = rng.choice(inner) if inner and draw < 0.3 else end
        return Changed("condition", f"{text[:at]} {phrase}{text[at:]}", ((at + 1, at + 1 + len(phrase)),))

    def _with_modifier(
        self, graph: str, text: str, name_spans: Sequence[tuple[int, int]], rng: random.Random
    ) -> Changed | None:
        places = [
            m.end() for m in _NOUN_PLACE.finditer(text) if not any(a <= m.end() < b for a, b in name_spans)
        ]
        if not places:
            return None
        everyday = rng.random() < EVERYDAY
        at, word = (
            rng.choice(places),
            rng.choice(self.adjectives) if everyday else self._other(self.modifiers, graph, rng),
        )
        return Changed("modifier", f"{text[:at]}{word} {text[at:]}", ((at, at + len(word)),))

    def _with_verb(
        self, graph: str, text: str, name_spans: Sequence[tuple[int, int]], rng: random.Random
    ) -> Changed | None:
        lexicon = Lexicon.load()
        places = [
            m.span()
            for m in _WORD.finditer(text)
            if m[0].islower() and m[0] not in FUNCTION and m[0] not in TALK and lexicon.mostly_verb(m[0])
            if not any(a < m.end() and m.start() < b for a, b in name_spans)
        ]
        if not places:
            return None
        start, stop = rng.choice(places)
        like = [v for v in rng.sample(self.verbs, 60) if v[0] != graph and v[1][-2:] == text[stop - 2 : stop]]
        if not like:
            return None
        word = like[0][1]
        return Changed("verb", text[:start] + word + text[stop:], ((start, start + len(word)),))

    def with_label(
        self,
        labels: Sequence[str],
        text: str,
        name_spans: Sequence[tuple[int, int]],
        rng: random.Random,
    ) -> Changed | None:
        """One of some labels in the place of a noun: *How many routes …* where airports were counted."""
        places = _noun_places(text, name_spans)
        if not places or not labels:
            return None
        start, stop = rng.choice(places)
        label = rng.choice(labels)
        if text[stop - 1] == "s" and singular(label) == label:
            label = f"{label[:-1]}ies" if label.endswith("y") else f"{label}s"
        return Changed("label", text[:start] + label + text[stop:], ((start, start + len(label)),))

    def with_noun(
        self, graph: str, text: str, name_spans: Sequence[tuple[int, int]], rng: random.Random
    ) -> Changed | None:
        """Another noun in the place of one, mostly near it (*captain*, *chairman*; *owner*, *tenant*).

        Those near it are of other graphs, or of what the world records.
        """
        lexicon = Lexicon.load()
        places = _noun_places(text, name_spans)
        if not places:
            return None
        start, stop = rng.choice(places)
        is_many = text[stop - 1] == "s"
        if rng.random() < OF_WORLD and not is_many:
            drawn = [("", noun) for noun in rng.sample(self.world, DRAWN)]
        else:
            sample = rng.sample(self.nouns, DRAWN)
            drawn = [v for v in sample if v[0] != graph and (v[1][-1] == "s") == is_many]
        likes = [(lexicon.similarity(text[start:stop], noun), noun) for _, noun in drawn]
        fits = [(like, noun) for like, noun in likes if like < SAME]
        if not fits:
            return None
        word = max(fits)[1] if rng.random() < MOSTLY_NEAR and max(fits)[0] >= NEAR else rng.choice(fits)[1]
        return Changed("noun", text[:start] + word + text[stop:], ((start, start + len(word)),))


def everyday_adjectives() -> list[str]:
    """Adjectives of everyday that say something by themselves, in their order."""
    lexicon, frequency = Lexicon.load(), shipped().common_words()
    words = (w for w, at in frequency.items() if at < COMMON and len(w) > 2 and w not in _IDLE)
    return sorted(
        word
        for word in words
        if not values_in(word) and word not in ORDINALS and not word.endswith("est")
        if (uses := lexicon.uses(word, ADJECTIVE)) >= USED
        and uses >= MOSTLY * sum(lexicon.uses(word, part) for part in (NOUN, VERB, ADJECTIVE, ADVERB))
    )


def everyday_superlatives() -> list[str]:
    """Superlatives of adjectives of everyday: *nicest*, *happiest*, *most famous*."""
    lexicon = Lexicon.load()
    others = {"worse", *(base for word in IRREGULAR for base in lexicon.lemmas(word))}
    regular = (adjective for adjective in everyday_adjectives() if adjective not in others)
    return sorted(filter(None, map(_superlative_of, regular)))


def _superlative_of(adjective: str) -> str:
    """One word of an adjective of one syllable, or of two that ends in *y*; else "" or two words."""
    if adjective.endswith(GRADED):
        return f"most {adjective}"
    stem = adjective.removesuffix("e").removesuffix("y")
    if len(re.findall("[aeiouy]+", stem)) != 1:
        return ""
    ending = "iest" if adjective.endswith("y") else "est"
    forms = f"{stem}{ending}", f"{stem}{stem[-1]}{ending}"
    made = [form for form in forms if adjective in Lexicon.load().lemmas(form)]
    is_doubled = re.search("[^aeiouy][aeiouy][^aeiouyw]$", adjective) is not None
    return made[-1] if is_doubled and made else "".join(made[:1])


GRADED = ("ful", "ous", "ive", "ant", "ent")
"""How adjectives end that have degrees, and no superlative of one word."""
IRREGULAR, MOSTLY_SAID = ("best", "worst"), 0.3
"""Superlatives that say by nothing what is ranked, and how many of those that are put in are of these."""


def comparative_of(superlative: str) -> str:
    """*nicest* → *nicer*, *most famous* → *more famous*."""
    if superlative in IRREGULAR:
        return {"best": "better", "worst": "worse"}[superlative]
    return re.sub("^most", "more", superlative) if " " in superlative else f"{superlative[:-2]}r"


def superlatives_in(text: str) -> list[tuple[int, int]]:
    """The characters [start, stop) of each superlative of an adjective."""
    return _of_adjectives(_SUPERLATIVE, text)


def comparatives_in(text: str) -> list[tuple[int, int]]:
    """The characters [start, stop) of each comparative of an adjective."""
    return _of_adjectives(_COMPARATIVE, text)


def _of_adjectives(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    lexicon = Lexicon.load()

    def is_adjective(word: str) -> bool:
        return lexicon.uses(word, ADJECTIVE) > lexicon.uses(word, NOUN)

    return [
        m.span()
        for m in pattern.finditer(text)
        if (is_adjective(m[1]) if m[1] else any(b != m[2] and is_adjective(b) for b in lexicon.lemmas(m[2])))
    ]


def nouns_of_world() -> tuple[str, ...]:
    """What things of the world have, by one noun: *composer*, *landlord*, *currency*."""
    return tuple(text for text in labels_of_world() if _WORD.fullmatch(text) and is_noun(text))


def _noun_places(text: str, name_spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The characters [start, stop) of each noun outside of names."""
    return [
        m.span()
        for m in _WORD.finditer(text)
        if is_noun(m[0]) and not any(a < m.end() and m.start() < b for a, b in name_spans)
    ]


def is_noun(word: str) -> bool:
    """Whether a word is a noun in small letters that says something by itself."""
    lexicon = Lexicon.load()
    if not (word.islower() and len(word) > 3) or word in _IDLE or lexicon.mostly_verb(word):
        return False
    return lexicon.uses(word, NOUN) > lexicon.uses(word, ADJECTIVE)


def pool_of(asked: Path, schemas: Path) -> Pool:
    """The pool of all training questions."""
    questions: list[tuple[str, str]] = []
    names: list[tuple[str, str]] = []
    for folder in sorted(p for p in asked.iterdir() if p.is_dir()):
        for line in (folder / "questions.jsonl").read_text("utf-8").splitlines():
            questions.append((folder.name, json.loads(line)["question"]))
        heads = Counter(t.split("\t")[0] for t in (folder / "kg.tsv").read_text("utf-8").splitlines())
        names += [
            (folder.name, n) for n in heads if re.fullmatch(r"[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){1,2}", n)
        ]
    for path in sorted(schemas.glob("*.json")):
        schema = json.loads(path.read_text("utf-8"))
        questions += [
            ("schema " + path.stem, q[0] if isinstance(q, list) else q["question"])
            for q in schema["questions"]
        ]
    return Pool.of(questions, names)
