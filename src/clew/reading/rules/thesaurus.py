"""Everyday English that WordNet does not link: words that people use to ask about one and the same thing.

Groups of words that may stand for each other when somebody asks for an attribute of a thing (*what do people
speak there* asks for a language). General English of many fields; a word may be in several groups.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

ALIKE = 0.65
"""Similarity of two words of one group."""

GROUPS: tuple[str, ...] = (
    # people and families
    "spouse husband wife partner consort couple married marry wed sweetheart darling beloved "
    "fiance bride groom",
    "child kid son daughter offspring descendant heir baby",
    "parent father mother dad mom mum papa mama",
    "sibling brother sister",
    "ancestor forefather grandparent",
    "friend companion acquaintance",
    "sex gender man woman male female",
    "race ethnicity ethnic descent",
    "religion faith belief creed denomination worship",
    "nation nationality citizenship citizen country homeland",
    "origin hometown birthplace native come",
    "birth born birthday birthdate",
    "death die died dead pass decease kill",
    "cause reason why",
    "age old young",
    "residence live reside home address dwell stay house",
    "name title called known",
    "nickname alias pseudonym",
    # work and learning
    "profession occupation job work career trade vocation employment living",
    "employer company firm organization business work institution employ",
    "boss manager supervisor superior report head lead",
    "leader head chief president chair chairman director lead run govern rule",
    "ceo chief executive boss head lead leader run manage",
    "member belong join part participant",
    "employee worker staff work employ people",
    "colleague coworker work",
    "school university college education study attend graduate academy institution alma mater",
    "teacher professor instructor teach tutor mentor",
    "student pupil study disciple",
    "degree qualification graduate",
    "skill know master expertise proficient competence speciality specialty",
    "subject topic theme about field discipline",
    "award prize medal honor honour win trophy",
    "salary pay wage earn income",
    # money and trade
    "price cost expensive cheap charge fee",
    "currency money pay coin",
    "revenue income earn turnover sales",
    "owner own possess belong proprietor",
    "buy purchase acquire order customer",
    "sell vendor seller supplier supply provide",
    "customer client buyer order",
    "product item goods article",
    "manufacturer maker make produce producer brand build product create",
    "founder found establish start set creator",
    "founded established started inception founding begin",
    # places and nature
    "location located place situated lie where site position address residence live stay",
    "headquarters headquartered seat base based office",
    "country state nation land",
    "city town municipality",
    "capital seat",
    "region province district area county",
    "border neighbor neighbour adjacent adjoin",
    "population people inhabitant live resident",
    "area size surface big large",
    "elevation altitude height high tall",
    "length long duration extent",
    "depth deep",
    "continent landmass",
    "climate weather",
    "temperature hot cold",
    "orbit revolve circle moon",
    "habitat live found",
    # time
    "date year when time day",
    "release released publish published launch appear come premiere debut",
    "start begin beginning",
    "end finish",
    "duration runtime length minute last long run",
    # speech and arts
    "language speak spoken tongue talk",
    "author writer write penned pen script scriptwriter screenwriter screenplay written novelist poet",
    "director direct directed filmmaker helm",
    "actor actress star starring act cast play performer perform appear role feature",
    "film movie picture motion",
    "book novel volume publication",
    "composer compose music score",
    "broadcaster broadcast channel network station air television tv",
    "singer sing vocalist song perform",
    "artist painter paint creator",
    "genre kind type category style sort class",
    "tag keyword label topic word term describe description descriptor",
    "rating rate review",
    "character role part",
    "publisher publish",
    "designer design architect",
    "inventor invent creator",
    "discoverer discover discovery found",
    # sport
    "team club squad side",
    "player footballer athlete play",
    "coach trainer manager train",
    "number jersey shirt",
    "position play role",
    "sport game play",
    "win winner champion championship victor title",
    "capacity fit seat hold",
    "stadium venue ground arena play",
    # health, food, science
    "symptom sign",
    "treatment treat cure therapy remedy",
    "disease illness condition disorder",
    "drug medicine medication",
    "side effect adverse",
    "ingredient contain made consist use component",
    "cuisine dish food",
    "symbol abbreviation sign stand",
    "mass weight weigh heavy",
    "energy calorie kcal",
    "speed fast velocity",
    "part component contain consist",
    "successor follow next replace",
    "predecessor precede previous before",
    "influence inspire",
)
"""Each a group, its words in base form, with spaces between."""


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[int]]:
    """The groups of every word."""
    found: dict[str, set[int]] = {}
    for number, group in enumerate(GROUPS):
        for word in group.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


def groups_of(word: str, lemmas: Callable[[str], tuple[str, ...]]) -> frozenset[int]:
    """The groups that hold a word or one of its base forms."""
    groups = _groups()
    forms = (word, *lemmas(word))
    return frozenset().union(*(groups[form] for form in forms if form in groups))
