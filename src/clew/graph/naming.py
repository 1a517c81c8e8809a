"""What an entity is called: its names as sources give them, each with its relation and its language.

    names_of(graph, node)   [Name("Köln", "rdfs:label", "label", "de"), …]

They are values of the entity, and no nodes of the graph: walks, vectors, the schema and Cypher have none of
them. Nothing is stored for them either, so that an update needs no care for them. What RDF says by
`rdfs:label`, `skos:altLabel` and their like is kept beside the triples (`graph.beside`); an alias column, a
column `name_de` or `schema:alternateName` is a relation, of which the triples are read; the others are the
aliases of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clew.foundation.forms import local_name
from clew.graph import RDFS, SKOS
from clew.graph.beside import lines_about, term_of
from clew.graph.graph import Graph, triple_text
from clew.types import TripleText

LABELS = (RDFS + "label", SKOS + "prefLabel")
NAMING_PROPERTIES = (
    "http://schema.org/name", "https://schema.org/name", "http://xmlns.com/foaf/0.1/name",
    "https://www.w3.org/ns/activitystreams#name", "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
)  # fmt: skip
"""What calls a thing where it has no label."""
ALT_LABEL = SKOS + "altLabel"
ALSO_KNOWN_AS = "also known as"
"""What says an alias of a file of aliases."""
_ALIASES = frozenset(
    (
        *("alias", "aliases", "aka", "a k a", "also known as", "also called", "synonym", "synonyms"),
        *("other name", "other names", "alternative name", "alternative names", "alternate name"),
        *("alternate names", "alternative label", "alternative labels", "alt label", "alt labels"),
        *("alt name", "alt names", "nick", "nickname", "nicknames", "nick name", "hidden label"),
        *("exact synonym", "has exact synonym", "has synonym"),
    )
)
"""What a relation, or a column, is called that has further names."""
_NAMES = frozenset(("name", "label", "pref label", "preferred label", "preferred name", "title"))
"""What one is called that has names of a language."""
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
LANGUAGES: dict[str, str] = {
    tag: name
    for tag, _, name in (p.partition(" ") for p in _LANGUAGES.replace("\n", " ").strip().split(", "))
}
TAGS = {name.lower(): tag for tag, name in reversed(LANGUAGES.items())}
"""The tag of each language by its name in small letters."""


def language_of(tag: str) -> str:
    """What the language of a tag is called in English; the tag itself where that is not known.

    >>> language_of("de"), language_of("pt-BR"), language_of("x-elvish")
    ('German', 'Portuguese', 'x-elvish')
    """
    return LANGUAGES.get(_base(tag), tag)


def _base(tag: str) -> str:
    """The language of a tag, without its country and script."""
    return tag.lower().partition("-")[0]


@dataclass(frozen=True, slots=True)
class Name:
    """One name of an entity, with the relation by which it is said and the tag of its language, if known."""

    text: str
    relation: str
    label: str
    """What people read of the relation."""
    language: str = ""
    triple: int = -1
    """The id of the triple that says it; -1 where none does."""

    def is_in(self, tag: str) -> bool:
        """Whether it is of a language: that of `pt-BR` is `pt`."""
        return _base(self.language) == _base(tag)

    @property
    def is_further(self) -> bool:
        """Whether its relation is one of aliases, of which a thing may have any number."""
        return self.relation in (ALT_LABEL, ALSO_KNOWN_AS) or says_alias(self.label)

    def said_of(self, graph: Graph, node: int) -> TripleText:
        """What the source says, as a triple is cited; the language is a property."""
        if self.triple >= 0:
            return triple_text(graph, self.triple)
        names = (graph.label(node), self.label, self.text)
        ids = (graph.entities[node], self.relation, self.text)
        properties = ((("language", self.language),),) if self.language else ()
        return TripleText(*names, properties, ids=None if ids == names else ids)


MOST_KEPT = 1_000
"""Nodes of which the names are kept for the next that asks."""


def names_of(graph: Graph, node: int) -> Sequence[Name]:
    """The names of an entity that sources record, each statement once: labels, then further names, by text.

    The first time, all that RDF keeps beside the triples is looked through: two to three seconds a gigabyte.
    """
    kept: dict[int, tuple[Name, ...]] = graph.made.setdefault(names_of, {})
    if node not in kept:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[node] = _names_of(graph, node)
    return kept[node]


def _names_of(graph: Graph, node: int) -> tuple[Name, ...]:
    beside, related = list(_beside(graph, node)), list(_related(graph, node))
    known = {graph.labels[node], graph.entities[node], *(name.text for name in (*beside, *related))}
    of_file = (name for name in _of_file(graph, node) if name.text not in known)
    order = sorted(
        (*beside, *related, *of_file),
        key=lambda name: (name.is_further, name.text, name.language, name.relation),
    )
    return tuple(order)


def _beside(graph: Graph, node: int) -> Iterator[Name]:
    """What RDF says by its properties of names, of which the graph has no triples."""
    if graph.beside is None or graph.values.datatype[node] >= 0:
        return
    import pyoxigraph

    lines = lines_about(graph.beside, term_of(graph.entities[node]))
    said = (line for line in lines if any(f" <{name}> " in line for name in _SAID_BESIDE))
    names = dict[Name, None]()
    for quad in pyoxigraph.parse("\n".join(said), pyoxigraph.RdfFormat.N_QUADS):
        relation, literal = quad.predicate.value, quad.object
        if relation in _SAID_BESIDE and isinstance(literal, pyoxigraph.Literal):
            names[Name(literal.value, relation, local_name(relation), literal.language or "")] = None
    yield from names


_SAID_BESIDE = (*LABELS, ALT_LABEL, *NAMING_PROPERTIES)


def _related(graph: Graph, node: int) -> Iterator[Name]:
    """The values of relations of names."""
    for slot in range(*graph.out.span(node)):
        relation = int(graph.out.relation[slot])
        tag = naming_relations(graph).get(relation)
        if tag is not None:
            value = int(graph.out.neighbour[slot])
            datatype = int(graph.values.datatype[value])
            written = graph.values.datatypes[datatype] if datatype >= 0 else ""
            tag = written[1:] if written.startswith("@") else tag
            name, label = graph.relations[relation], graph.relation_labels[relation]
            yield Name(graph.labels[value], name, label, tag, slot)


def _of_file(graph: Graph, node: int) -> Iterator[Name]:
    """The aliases of a node, but for those that readers make of its id: *port P1*, *Mozzarella Topping*."""
    aliases, entity = graph.aliases, graph.entities[node]
    low, high = aliases.entity.searchsorted(np.array([node, node + 1], aliases.entity.dtype)).tolist()
    has_iris, has_ids = graph.beside is not None, graph.labels is not graph.entities
    made = {RUN_TOGETHER.sub(" ", text) for text in (local_name(entity), graph.labels[node]) if has_iris}
    own = entity.rpartition(":")[2] if has_ids and not has_iris else ""
    for text in map(aliases.names.__getitem__, range(low, high)):
        is_id = bool(own) and (text == own or text.endswith(f" {own}"))
        if text not in made and not is_id:
            yield Name(text, ALSO_KNOWN_AS, ALSO_KNOWN_AS)


RUN_TOGETHER = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
"""Where a word begins in a name that is written as one (`MozzarellaTopping`)."""


def naming_relations(graph: Graph) -> Mapping[int, str]:
    """The relations of a graph whose values are names, each with the tag of its language, if it says one."""
    relations: dict[int, str] | None = graph.made.get(naming_relations)
    if relations is None:
        relations = graph.made[naming_relations] = {}
        for number, (name, label) in enumerate(zip(graph.relations, graph.relation_labels, strict=True)):
            tag = tag_of_names(label) or tag_of_names(local_name(name))
            if tag or name in _SAID_BESIDE or says_alias(label) or says_alias(local_name(name)):
                relations[number] = tag
    return relations


def named_by(graph: Graph, node: int) -> list[int]:
    """The entities that a value is a further name of, ascending; none where it is more than a name."""
    relations, (start, stop) = naming_relations(graph), graph.into.span(node)
    if not relations or start == stop or graph.out.starts[node] < graph.out.stops[node]:
        return []
    if not np.isin(graph.into.relation[start:stop], list(relations)).all():
        return []
    return np.unique(graph.into.neighbour[start:stop]).tolist()


def _label_words(label: str) -> str:
    return " ".join(_WORDS.findall(_CAPITAL.sub(" ", label))).lower()


def says_alias(label: str) -> bool:
    """Whether a relation, or a column, is of further names by what it is called.

    >>> says_alias("alternateName"), says_alias("itemAltLabel"), says_alias("name")
    (True, True, False)
    """
    words = _label_words(label)
    return words in _ALIASES or words.endswith(" alt label")


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
