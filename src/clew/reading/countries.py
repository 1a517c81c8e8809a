"""Countries, which are known by their names where a graph does not say what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph
from clew.graph.schema import MOSTLY_VALUES, Schema
from clew.graph.steps import End, relation_of, step_of
from clew.index.store.directory import Index
from clew.query.vocabulary import words_of_label
from clew.reading.english import FUNCTION
from clew.text.normalise import Token, normalise

_TABLE = """
Afghan: Afghanistan, African: Africa, Albanian: Albania, Algerian: Algeria,
American: United States / United States of America / USA / US, Andorran: Andorra, Angolan: Angola,
Antarctic: Antarctica, Arctic: Arctic, Argentine: Argentina, Argentinian: Argentina, Armenian: Armenia,
Asian: Asia, Australian: Australia, Austrian: Austria, Azerbaijani: Azerbaijan,
Bahamian: Bahamas / The Bahamas, Bahraini: Bahrain, Bangladeshi: Bangladesh, Barbadian: Barbados,
Belarusian: Belarus, Belgian: Belgium, Belizean: Belize, Beninese: Benin, Bhutanese: Bhutan,
Bolivian: Bolivia, Bosnian: Bosnia and Herzegovina / Bosnia, Botswanan: Botswana, Brazilian: Brazil,
British: United Kingdom / Great Britain / Britain / UK, Bruneian: Brunei, Bulgarian: Bulgaria,
Burmese: Myanmar / Burma, Burundian: Burundi, Cambodian: Cambodia, Cameroonian: Cameroon, Canadian: Canada,
Chadian: Chad, Chilean: Chile, Chinese: China / People's Republic of China, Colombian: Colombia,
Congolese: Democratic Republic of the Congo / Congo, Costa Rican: Costa Rica, Croat: Croatia,
Croatian: Croatia, Cuban: Cuba, Cypriot: Cyprus, Czech: Czech Republic / Czechia / Czechoslovakia,
Danish: Denmark, Dominican: Dominican Republic / Dominica, Dutch: Netherlands / The Netherlands / Holland,
Ecuadorian: Ecuador, Egyptian: Egypt, Emirati: United Arab Emirates, English: England / United Kingdom,
Eritrean: Eritrea, Estonian: Estonia, Ethiopian: Ethiopia, European: Europe, Fijian: Fiji,
Filipino: Philippines, Finnish: Finland, French: France, Gabonese: Gabon, Gambian: Gambia / The Gambia,
Georgian: Georgia, German: Germany, Ghanaian: Ghana, Greek: Greece, Greenlandic: Greenland,
Grenadian: Grenada, Guatemalan: Guatemala, Guinean: Guinea, Guyanese: Guyana, Haitian: Haiti,
Honduran: Honduras, Hungarian: Hungary, Icelandic: Iceland, Indian: India, Indonesian: Indonesia,
Iranian: Iran, Iraqi: Iraq, Irish: Ireland / Republic of Ireland, Israeli: Israel, Italian: Italy,
Ivorian: Ivory Coast / Côte d'Ivoire, Jamaican: Jamaica, Japanese: Japan, Jordanian: Jordan,
Kazakh: Kazakhstan, Kenyan: Kenya, Korean: South Korea / North Korea / Korea, Kosovar: Kosovo,
Kuwaiti: Kuwait, Kyrgyz: Kyrgyzstan, Lao: Laos, Laotian: Laos, Latvian: Latvia, Lebanese: Lebanon,
Liberian: Liberia, Libyan: Libya, Liechtensteiner: Liechtenstein, Lithuanian: Lithuania,
Luxembourgish: Luxembourg, Macedonian: North Macedonia / Macedonia, Malagasy: Madagascar, Malawian: Malawi,
Malaysian: Malaysia, Maldivian: Maldives, Malian: Mali, Maltese: Malta, Mauritanian: Mauritania,
Mauritian: Mauritius, Mexican: Mexico, Moldovan: Moldova, Monegasque: Monaco, Mongolian: Mongolia,
Montenegrin: Montenegro, Moroccan: Morocco, Mozambican: Mozambique, Namibian: Namibia, Nepalese: Nepal,
Nepali: Nepal, New Zealand: New Zealand, Nicaraguan: Nicaragua, Nigerian: Nigeria, Nigerien: Niger,
Norwegian: Norway, Omani: Oman, Pakistani: Pakistan, Palestinian: Palestine, Panamanian: Panama,
Paraguayan: Paraguay, Persian: Iran / Persia, Peruvian: Peru, Polish: Poland, Portuguese: Portugal,
Qatari: Qatar, Romanian: Romania, Russian: Russia / Russian Federation, Rwandan: Rwanda, Samoan: Samoa,
Saudi: Saudi Arabia, Scottish: Scotland, Senegalese: Senegal, Serbian: Serbia, Singaporean: Singapore,
Slovak: Slovakia, Slovakian: Slovakia, Slovene: Slovenia, Slovenian: Slovenia, Somali: Somalia,
South African: South Africa, Soviet: Soviet Union / USSR, Spanish: Spain, Sri Lankan: Sri Lanka,
Sudanese: Sudan, Surinamese: Suriname, Swedish: Sweden, Swiss: Switzerland, Syrian: Syria,
Taiwanese: Taiwan, Tajik: Tajikistan, Tanzanian: Tanzania, Thai: Thailand, Tibetan: Tibet, Togolese: Togo,
Tongan: Tonga, Trinidadian: Trinidad and Tobago, Tunisian: Tunisia, Turkish: Turkey / Türkiye,
Turkmen: Turkmenistan, Ugandan: Uganda, Ukrainian: Ukraine, Uruguayan: Uruguay, Uzbek: Uzbekistan,
Venezuelan: Venezuela, Vietnamese: Vietnam, Welsh: Wales, Yemeni: Yemen, Yugoslav: Yugoslavia,
Zambian: Zambia, Zimbabwean: Zimbabwe
"""


_SAME = """
United States / United States of America / USA / US / U.S. / U.S.A. / America
United Kingdom / Great Britain / Britain / UK / U.K.
Netherlands / The Netherlands / Holland
Czech Republic / Czechia
United Arab Emirates / UAE
Russia / Russian Federation
China / People's Republic of China
Ivory Coast / Côte d'Ivoire
Turkey / Türkiye
Myanmar / Burma
"""
_AMBIGUOUS = frozenset(("polish", "us"))
"""Words of another meaning in small letters."""
_MOST_WORDS = 4


@lru_cache(maxsize=1)
def _demonyms() -> dict[str, tuple[str, ...]]:
    """Adjective in lower case → names of what it is of, the most likely first."""
    entries = (entry.split(":") for entry in _TABLE.replace("\n", " ").split(","))
    return {
        adjective.strip().lower(): tuple(n.strip() for n in names.split("/")) for adjective, names in entries
    }


def places_of(adjective: str) -> tuple[str, ...]:
    """The countries or the continent that an adjective is of; none if it is of no such thing."""
    return _demonyms().get(adjective.lower(), ())


@lru_cache(maxsize=1)
def _other_names() -> dict[str, tuple[str, ...]]:
    """A normalised name of a country → all its names."""
    groups = (tuple(n.strip() for n in line.split("/")) for line in _SAME.strip().splitlines())
    return {normalise(name): group for group in groups for name in group}


def places_named(
    words: Sequence[Token], labels: frozenset[str], names: frozenset[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], tuple[str, ...]]]:
    """Runs of words, by the characters [start, stop), that mean a place, and what it may be called.

    A word of the graph's `labels` means what they do (*English* of `english subtitles`), and one of its
    `names` means a place only before a noun: *German films*, not *who speaks German*.
    """
    for first in range(len(words)):
        for last in range(first, min(first + _MOST_WORDS, len(words))):
            span = words[first].start, words[last].stop
            before_noun = last + 1 < len(words) and words[last + 1].norm not in FUNCTION
            written = " ".join(word.text for word in words[first : last + 1])
            if written in _AMBIGUOUS or written.lower() in labels or (span in names and not before_noun):
                continue
            places = _other_names().get(normalise(written)) or places_of(written)
            places = places or places_of(written.removesuffix("s"))
            if places:
                yield span, places


CONTINENTS = frozenset("Africa Asia Europe Antarctica Arctic".split())


@lru_cache(maxsize=1)
def country_names() -> frozenset[str]:
    """Names of countries."""
    return frozenset(name for names in _demonyms().values() for name in names) - CONTINENTS


def named_countries(index: Index, schema: Schema) -> dict[str, list[int]]:
    """Nodes whose names tell that they are countries, where a relation leads to such, but none says so.

    With those that stand in their place at the same relations.
    """
    graph = index.graph
    if any("country" in words_of_label(label).split() for label in graph.relation_labels):
        return {}
    hits = (index.names.exact(name) for name in sorted(country_names()))
    countries = sorted({h.entity for name_hits in hits for h in name_hits if h.exact and h.kind != "alias"})
    sides = [(step_of(r, side), n) for n in countries for side, r in _relations_at(graph, n)]
    counts = Counter(end for end, _ in sides)
    ends = [end for end, n in counts.items() if n >= MOSTLY_VALUES * schema.nodes[end]]
    if not ends:
        return {}
    # What stands where mostly countries do is one too, though no list of names has it.
    alike = [_nodes_at(graph, end) for end in ends]
    return {"country": np.unique(np.concatenate([np.array(countries, np.int64), *alike])).tolist()}


def _nodes_at(graph: Graph, end: End) -> Int64:
    side = graph.side(end)
    return np.unique(side.owners(np.flatnonzero(side.relation == relation_of(end))))


def _relations_at(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    """(side, relation) of all edges of a node, each once; side 0 where it is a head."""
    for side, adjacency in enumerate((graph.out, graph.into)):
        start, stop = adjacency.span(node)
        yield from ((side, int(r)) for r in np.unique(adjacency.relation[start:stop]))
