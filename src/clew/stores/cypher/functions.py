"""What a guarded query may call: functions and procedures of Cypher 5 that only read or compute."""

from __future__ import annotations

_SCALAR = """char_length character_length coalesce elementId endNode head id last length nullIf properties
randomUUID size startNode timestamp toBoolean toBooleanOrNull toFloat toFloatOrNull toInteger
toIntegerOrNull type valueType"""
_AGGREGATING = "avg collect count max min percentileCont percentileDisc stDev stDevP sum"
_LISTS = """keys labels nodes range relationships reverse tail toBooleanList toFloatList toIntegerList
toStringList exists isEmpty all any none single"""
_NUMBERS = """abs ceil floor isNaN rand round sign e exp log log10 sqrt acos asin atan atan2 cos cosh cot coth
degrees haversin pi radians sin sinh tan tanh"""
_TEXTS = """btrim left lower ltrim normalize replace right rtrim split substring toLower toString
toStringOrNull toUpper trim upper"""
_TIMES = """date datetime localdatetime localtime time duration duration.between duration.inDays
duration.inMonths duration.inSeconds datetime.fromEpoch datetime.fromEpochMillis"""
_SPACE = "point point.distance point.withinBBox distance vector.similarity.cosine vector.similarity.euclidean"
_CLOCKS = tuple(
    f"{kind}.{form}"
    for kind in ("date", "datetime", "localdatetime", "localtime", "time")
    for form in ("truncate", "realtime", "statement", "transaction")
)

_NAMES = " ".join((_SCALAR, _AGGREGATING, _LISTS, _NUMBERS, _TEXTS, _TIMES, _SPACE)).split()
FUNCTIONS = frozenset(name.lower() for name in (*_NAMES, *_CLOCKS))
"""In lower case, as the names of functions have none."""

AGGREGATES = frozenset(name.lower() for name in _AGGREGATING.split())
"""Functions that make one value of many rows; in lower case."""

PROCEDURES = frozenset(
    """db.labels db.relationshipTypes db.propertyKeys db.schema.nodeTypeProperties
    db.schema.relTypeProperties db.index.fulltext.queryNodes db.index.fulltext.queryRelationships
    db.index.vector.queryNodes db.index.vector.queryRelationships""".split()
)
