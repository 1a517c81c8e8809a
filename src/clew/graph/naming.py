"""What says what a thing is called: relations of names, columns of aliases, and the languages of names.

The name by which people see a node is its label. Every further name is a value of a relation, as any other
fact: `Cologne  label  Köln`, with the property `language: German` of that edge where the source says one. So
is the label itself of what has further names. `naming_relations` are the relations whose values are names.
"""

from __future__ import annotations

import re

import numpy as np

from clew.foundation.forms import local_name
from clew.graph import RDFS, SKOS
from clew.graph.graph import Graph

LANGUAGE = "language"
"""The property of an edge to a name that is of a language: its English name."""
ALSO_KNOWN_AS = "also known as"
"""What leads to the aliases of a file of aliases; where names are IRIs, `skos:altLabel` does."""
ALT_LABEL = SKOS + "altLabel"
LABELS = (RDFS + "label", SKOS + "prefLabel")
NAMING_PROPERTIES = (
    "http://schema.org/name", "https://schema.org/name", "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title", "http://purl.org/dc/elements/1.1/title",
)  # fmt: skip
"""What calls a thing where it has no label."""
_ALIASES = frozenset(
    (
        *("alias", "aliases", "aka", "a k a", "also known as", "also called", "synonym", "synonyms"),
        *("other name", "other names", "alternative name", "alternative names", "alternate name"),
        *("alternate names", "alternative label", "alternative labels", "alt label", "alt labels"),
        *("alt name", "alt names", "nick", "nickname", "nicknames", "nick name"),
        *("exact synonym", "has exact synonym", "has synonym"),
    )
)
"""What a relation, or a column, is called that has further names."""
_NAMES = frozenset(("name", "label", "pref label", "preferred label", "preferred name"))
"""What one is called that has names."""
_WORDS = re.compile(r"[^\W\d_]+")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_LANGUAGES = """
aa Afar, ab Abkhazian, af Afrikaans, ak Akan, am Amharic, an Aragonese, ar Arabic, as Assamese, av Avaric,
ay Aymara, az Azerbaijani, ba Bashkir, be Belarusian, bg Bulgarian, bm Bambara, bn Bengali, bo Tibetan, br
Breton, bs Bosnian, ca Catalan, ce Chechen, ch Chamorro, co Corsican, cs Czech, cv Chuvash, cy Welsh, da
Danish, de German, dv Divehi, dz Dzongkha, ee Ewe, el Greek, en English, eo Esperanto, es Spanish, et
Estonian, eu Basque, fa Persian, ff Fulah, fi Finnish, fj Fijian, fo Faroese, fr French, fy Frisian, ga
Irish, gd Scottish Gaelic, gl Galician, gn Guarani, gu Gujarati, gv Manx, ha Hausa, he Hebrew, hi Hindi, hr
Croatian, ht Haitian Creole, hu Hungarian, hy Armenian, ia Interlingua, id Indonesian, ig Igbo, is
Icelandic, it Italian, iu Inuktitut, ja Japanese, jv Javanese, ka Georgian, ki Kikuyu, kk Kazakh, kl
Greenlandic, km Khmer, kn Kannada, ko Korean, ks Kashmiri, ku Kurdish, kw Cornish, ky Kyrgyz, la Latin, lb
Luxembourgish, lg Ganda, li Limburgish, ln Lingala, lo Lao, lt Lithuanian, lv Latvian, mg Malagasy, mi
Maori, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, nb
Norwegian, ne Nepali, nl Dutch, nn Norwegian, no Norwegian, nv Navajo, ny Chichewa, oc Occitan, om Oromo, or
Odia, os Ossetian, pa Punjabi, pl Polish, ps Pashto, pt Portuguese, qu Quechua, rm Romansh, rn Rundi, ro
Romanian, ru Russian, rw Kinyarwanda, sa Sanskrit, sc Sardinian, sd Sindhi, se Northern Sami, sg Sango, si
Sinhala, sk Slovak, sl Slovenian, sm Samoan, sn Shona, so Somali, sq Albanian, sr Serbian, ss Swati, st
Sotho, su Sundanese, sv Swedish, sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, ti Tigrinya, tk
Turkmen, tl Tagalog, tn Tswana, to Tongan, tr Turkish, ts Tsonga, tt Tatar, tw Twi, ty Tahitian, ug Uyghur,
uk Ukrainian, ur Urdu, uz Uzbek, ve Venda, vi Vietnamese, vo Volapük, wa Walloon, wo Wolof, xh Xhosa, yi
Yiddish, yo Yoruba, za Zhuang, zh Chinese, zu Zulu, grc Ancient Greek, nds Low German, gsw Swiss German, sco
Scots, ceb Cebuano, fil Filipino, haw Hawaiian, scn Sicilian, ast Asturian, arz Egyptian Arabic, yue
Cantonese, mul multiple languages
"""
"""Languages by their tags (ISO 639), as they are called in English."""
LANGUAGES = dict(pair.split(" ", 1) for pair in _LANGUAGES.replace("\n", " ").strip().split(", "))
TAGS = {name.lower(): tag for tag, name in reversed(LANGUAGES.items())}
"""The tag of each language by its name in small letters."""


def language_of(tag: str) -> str:
    """What the language of a tag is called in English; the tag itself where that is not known.

    >>> language_of("de"), language_of("pt-BR"), language_of("x-elvish")
    ('German', 'Portuguese', 'x-elvish')
    """
    return LANGUAGES.get(tag.lower().partition("-")[0], tag)


def _label_words(label: str) -> str:
    return " ".join(_WORDS.findall(_CAPITAL.sub(" ", label))).lower()


def says_alias(label: str) -> bool:
    """Whether a relation, or a column, is of further names by what it is called.

    >>> says_alias("alternateName"), says_alias("also_known_as"), says_alias("name")
    (True, True, False)
    """
    return _label_words(label) in _ALIASES


def tag_of_names(label: str) -> str:
    """The tag of the language whose names a column has by what it is called; empty for any other.

    >>> tag_of_names("name_de"), tag_of_names("German name"), tag_of_names("label (fr)"), tag_of_names("name")
    ('de', 'de', 'fr', '')
    """
    first, *rest = _label_words(label).split() or [""]
    if not rest:
        return ""
    for name, said in ((first, " ".join(rest)), (rest[-1], " ".join([first, *rest[:-1]]))):
        said = said.removeprefix("in ")
        if name in _NAMES and (said in LANGUAGES or said in TAGS):
            return said if said in LANGUAGES else TAGS[said]
    return ""


def naming_relations(graph: Graph) -> tuple[int, ...]:
    """The relations of a graph whose values are names of what they are said of, those of aliases first."""
    relations: tuple[int, ...] | None = graph.made.get(naming_relations)
    if relations is None:
        known = (*LABELS, *NAMING_PROPERTIES)
        pairs = [*enumerate(zip(graph.relations, graph.relation_labels, strict=True))]
        aliases = [n for n, (name, label) in pairs if says_alias(label) or says_alias(local_name(name))]
        names = [
            n for n, (name, label) in pairs
            if name in known or _label_words(label) in _NAMES or tag_of_names(label)
        ]  # fmt: skip
        relations = graph.made[naming_relations] = tuple(dict.fromkeys((*aliases, *names)))
    return relations


def is_only_name(graph: Graph, node: int) -> bool:
    """Whether a node is a text that does nothing but name things, which are found by it."""
    if graph.values.datatype[node] < 0:
        return False
    start, stop = graph.into.span(node)
    if stop == start or not np.isin(graph.into.relation[start:stop], naming_relations(graph)).all():
        return False
    text = graph.entities[node]
    return all(text in names_of(graph, owner) for owner in set(graph.into.neighbour[start:stop].tolist()))


def names_of(graph: Graph, node: int) -> list[str]:
    """The label of a node, and its aliases."""
    aliases = graph.aliases
    low, high = aliases.entity.searchsorted(np.array([node, node + 1], aliases.entity.dtype)).tolist()
    return [graph.labels[node], *(aliases.names[at] for at in range(low, high))]
