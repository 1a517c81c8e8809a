"""N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD, parsed by pyoxigraph in a process of its own.

`rdf:type` of an IRI becomes a declared type and is not kept as a triple; of a class of RDF, RDFS or OWL
themselves (`owl:Class` and the like) it says nothing about an entity: left out and counted. `rdfs:label`
and `skos:prefLabel` are labels, those of the user's language first (English), then those without a
language; after them names and titles of schema.org, FOAF and Dublin Core. The others and `skos:altLabel`
are aliases. Blank nodes keep their names; those that have none are numbered, `_:[1]`. The name of its graph
(N-Quads, TriG, JSON-LD) is a property `graph` of a triple. What is said of a reifier (RDF 1.2) or of a
reified statement (`rdf:subject`, `rdf:predicate`, `rdf:object`) are properties of the triple, where the
source states that too; so are the qualifiers of Wikibase. What leads to a nameless list or
`rdf:Seq` leads to each of its members, with the property `position`; its cells are for SPARQL alone. A list
in a list, an `rdf:Seq` with an IRI, and a list that is not whole within `MOST_HELD` statements stay nodes.
"""

from __future__ import annotations

import codecs
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast
from urllib.parse import quote

from clew.errors import InputError, ParseError
from clew.foundation.forms import converted
from clew.foundation.system import limit_memory
from clew.graph import OWL, POSITION, RDF, RDFS, XSD
from clew.graph.beside import ENDS, blank_term
from clew.graph.naming import ALT_LABEL, LABELS, NAMING_PROPERTIES
from clew.graph.readers.batch import RANKS, Batch, Label, NodeKey, OnError, Tally
from clew.graph.readers.hints import Hints
from clew.graph.readers.stream import ByteSource, XmlGuard, is_plain, line_blocks

if TYPE_CHECKING:
    import pyoxigraph


# Statements as Wikibase writes them (Wikidata and others), whose qualifiers are properties of edges.
#
# `wd:Q1 p:P39 wds:S`, `wds:S ps:P39 wd:Q2` and `wds:S pq:P580 "2001"` say of the triple `wd:Q1 wdt:P39 wd:Q2`
# that its P580 is 2001. The label of an entity `wd:P39` is that of the relation `wdt:P39`.
# https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format


_ONTOLOGY = "http://wikiba.se/ontology#"
_BESIDE = (RDF + "type", "http://www.w3.org/ns/prov#wasDerivedFrom")
_PREDICATE = re.compile(
    r"(?P<base>.+/prop/)(?P<place>|(?:statement|qualifier)/(?:[a-z-]+/)?|direct-normalized/)P(?P<id>\d+)"
)
_PROPERTY = re.compile(r"(.+)/entity/(P\d+)")
_PLACES = {"": "claim", "statement/": "value", "qualifier/": "qualifier"}


@lru_cache(maxsize=1 << 14)
def _statement_part(predicate: str) -> tuple[str, str] | None:
    """What a predicate says of a statement of Wikibase, and of which relation or key; None for any other.

    It says whose it is (`claim`), its `value`, a `qualifier`, or what is kept nowhere ("").
    """
    if predicate in _BESIDE or predicate.startswith(_ONTOLOGY):
        return "", predicate
    parts = _PREDICATE.fullmatch(predicate)
    return parts and (_PLACES.get(parts["place"], ""), f"{parts['base']}direct/P{parts['id']}")


# RDF is parsed in a process of its own, with a limit of memory: what ends the parser does not end Clew.
#
# Statements nested 20,000 deep overflow the parser's stack, and one that is endless fills the memory; both
# end a process with a signal, which nothing in it can catch. `_say_batches` is what runs there: it writes a
# line of JSON for each batch, for how far the file is read, and for what was counted, the last.


PARSER_MEMORY = 2 << 30
"""Bytes that the parser may take."""
_COUNTS = ("blank", "skipped", "reasons", "notes", "line")


def _read_apart(path: Path, format: str, tally: Tally) -> Iterator[Batch]:
    """Stream the batches of `path` from a process that reads it; raises as `Reader.read`.

    Raises ParseError too if the process ended by a signal or for lack of memory.
    """
    command = [sys.executable, "-P", "-m", "clew.graph.readers.rdf", format, tally.on_error,
               "collect" * tally.collect, tally.scope, tally.hints.language, str(path)]  # fmt: skip
    with tempfile.TemporaryFile() as error_output:
        process = subprocess.Popen(  # noqa: S603 - this Python, a module of ours
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error_output
        )
        try:
            line = 0
            # A last line that was cut off is left out.
            complete_lines = (text for text in process.stdout or () if text.endswith(b"\n"))
            for message in map(json.loads, complete_lines):
                if "at" in message:
                    done, line = message["at"]
                    if tally.progress is not None:
                        tally.progress(done)
                elif "batch" in message:
                    yield converted(message["batch"], Batch)
                else:
                    for name in _COUNTS:
                        setattr(tally, name, message[name])
                    tally.faults = [ParseError(*fault) for fault in message["faults"]]
                    if "parse_error" in message:
                        *first, other_faults, stopped = message["parse_error"]
                        raise ParseError(*first, others=tuple(other_faults), stopped=stopped)
                    if "input_error" in message:
                        raise InputError(message["input_error"])
                    return
            raise _end_error(path, line, process.wait(), error_output)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _say_batches(format: str, on_error: str, collect: str, scope: str, language: str, path: str) -> None:
    """Read one file in this process and write what is in it; the arguments are those of the command line."""
    import msgspec

    def write(line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.flush()

    def say(message: Mapping[str, Any]) -> None:
        # Names of files may be no UTF-8, which msgspec does not write.
        write(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogateescape"))

    limit_memory(PARSER_MEMORY)
    reader = next(reader for reader in RDF_READERS if reader.name == format)
    tally = Tally(
        cast(OnError, on_error), lambda done: say({"at": [done, tally.line]}), scope, bool(collect),
        Hints(language=language),
    )  # fmt: skip
    last: dict[str, Any] = {}
    try:
        for batch in reader.read_here(Path(path), tally):
            write(msgspec.json.encode({"batch": batch}))
    except ParseError as error:
        last["parse_error"] = [*_told(error), error.others, error.stopped]
    except InputError as error:
        last["input_error"] = str(error)
    counts = {name: getattr(tally, name) for name in _COUNTS}
    say(last | counts | {"faults": list(map(_told, tally.faults))})


def _told(error: ParseError) -> list[str | int]:
    return [error.file, error.line, error.reason, error.advice]


def _end_error(path: Path, line: int, code: int, error_output: IO[bytes]) -> ParseError:
    """Say why a process ended that had more to say."""
    error_output.seek(0)
    words = error_output.read().decode("utf-8", "replace").strip().splitlines()
    text = " ".join(words)
    if "memory" in text or "MemoryError" in text:
        memory = f"{PARSER_MEMORY >> 30} GiB of memory"
        reason = f"reading it takes more than {memory}: a statement, text or gap is endless"
    elif code < 0:
        reason = "it ends the parser: statements are nested too deep"
    else:
        reason = f"it ends the parser ({words[-1] if words else f'exit {code}'})"
    return ParseError(str(path), 0, f"after line {line:,}: {reason}", "Remove what is not data")


_TYPE = RDF + "type"
_CHARACTERS = {OWL + "SymmetricProperty": "symmetric", OWL + "TransitiveProperty": "transitive"}
_REIFIED = (RDF + "subject", RDF + "predicate", RDF + "object")
_LINES_ADVICE = "Correct the statement, or skip bad statements with --on-error skip"
_NAMELESS = re.compile(r"[a-f][0-9a-f]{19,31}")
"""How pyoxigraph names blank nodes that have no name: a random 128-bit number in hexadecimal. They are
numbered here instead, as is a name in the file that looks like one, which stays distinct."""

_OWL_STARTS = (
    (re.compile(rb"<(?:owl:)?Ontology\b[^>]*\bontologyIRI="), "the file is OWL/XML, which is not RDF/XML"),
    (re.compile(rb"^\s*(?:Prefix|Ontology)\("), "the file is in OWL's functional syntax, not RDF/XML"),
    (re.compile(rb"^\s*(?:Prefix|Ontology): "), "the file is in OWL's Manchester syntax, not RDF/XML"),
)
_OWL_ADVICE = "Save it as RDF/XML or Turtle (in Protégé: File, Save as; or: robot convert)"
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]*")
_UNCHECKED = ("RDF_XML", "JSON_LD")
"""Syntaxes after whose faults the parser cannot go on: their IRIs are checked here."""
SMALL = 1 << 14
"""Bytes of a file that is too short to end the parser, which needs some 8,000 levels for that."""

_Term = Any
"""A term of pyoxigraph, whose kind is told by its class."""
RdfSyntax = Literal["N_TRIPLES", "N_QUADS", "TURTLE", "TRIG", "RDF_XML", "JSON_LD"]


@dataclass(frozen=True, slots=True)
class RdfReader:
    """Reader of one syntax of RDF; `syntax` is the name of pyoxigraph's `RdfFormat`."""

    name: str
    suffixes: tuple[str, ...]
    syntax: RdfSyntax

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`.

        Faults of XML and JSON, and of UTF-8 in all but the line formats, are fatal even when skipping.
        """
        if path.stat().st_size <= SMALL and is_plain(path):
            yield from self.read_here(path, tally)
        else:
            yield from _read_apart(path, self.name, tally)

    def read_here(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Read in this process, which a large file may end."""
        by_line = self.syntax in ("N_TRIPLES", "N_QUADS")
        quads = _parse_lines if by_line else _parse_document
        sorter = _Sorter(path, tally, nameless=not by_line, check=self.syntax in _UNCHECKED)
        for quad in quads(path, self.syntax, tally):
            sorter.take(quad)
            if sorter.batch.full:
                yield sorter.batch
                sorter.batch = Batch(iris=True)
        sorter.finish()
        yield sorter.batch


def _parse_lines(path: Path, syntax: RdfSyntax, tally: Tally) -> Iterator[pyoxigraph.Quad]:
    """Parse block by block, and what follows a bad line by itself, so that one bad line spoils no other."""
    import pyoxigraph

    format_ = getattr(pyoxigraph.RdfFormat, syntax)
    for first, lines in line_blocks(path, tally):
        tally.blank += sum(not line.strip() for line in lines)
        begun, parts = 0, iter(["\n".join(lines)])
        while (part := next(parts, None)) is not None:
            # A fault in a last line that is not ended would be told twice.
            parser = pyoxigraph.parse(part + "\n", format_)
            try:
                yield from parser
                begun += 1
            except SyntaxError as error:
                begun += error.lineno or 1
                tally.error(ParseError(str(path), first + begun - 1, _reason(error), _LINES_ADVICE))
                # A literal without its last quote would take the lines behind it.
                parts = iter(lines[begun:])


def _parse_document(path: Path, syntax: RdfSyntax, tally: Tally) -> Iterator[pyoxigraph.Quad]:
    """Parse a whole document as a stream."""
    import pyoxigraph

    with _Utf8Source(path, tally, xml=syntax == "RDF_XML") as source:
        parser = pyoxigraph.parse(
            _WithContext(source) if syntax == "JSON_LD" else source,  # type: ignore[arg-type]
            getattr(pyoxigraph.RdfFormat, syntax),
            base_iri=_base_of(path),
            lenient=syntax in _UNCHECKED,
        )
        while True:
            try:
                yield next(parser)
            except StopIteration:
                break
            except SyntaxError as error:
                if syntax in _UNCHECKED:
                    # What follows a fault of XML or JSON can't be trusted: it is read at the wrong depth.
                    owl_syntax = source.other_syntax
                    reason = owl_syntax or f"near line {source.line}: {_reason(error)}"
                    of_xml = ". Of XML, Clew reads RDF/XML, GraphML and GEXF" * (syntax == "RDF_XML")
                    advice = _OWL_ADVICE if owl_syntax else f"Correct the file{of_xml}"
                    raise ParseError(str(path), 0, reason, advice) from error
                tally.error(ParseError(str(path), error.lineno or 0, _reason(error), _LINES_ADVICE))
            except MemoryError as error:
                reason = f"near line {source.line}: a statement is too long ({error})"
                raise ParseError(str(path), 0, reason, "Split or remove it") from error


def _reason(error: SyntaxError) -> str:
    """Give pyoxigraph's message without the place, which is said already."""
    if "LoadDocumentCallback" in str(error):
        return (
            "it names a context on the web that is not known, and nothing is fetched: write it into the file"
        )
    return re.sub(r"^Parser error .*?: |^error while parsing |\s*\(line \d+\)$", "", error.msg or str(error))


def _base_of(path: Path) -> str:
    """What relative IRIs are relative to where the file does not say: its name, wherever it lies."""
    return f"file:///{quote(path.name)}"


class _Utf8Source(ByteSource):
    """A byte source that names the line of invalid UTF-8, after which pyoxigraph loses the rest."""

    def __init__(self, path: Path, tally: Tally, *, xml: bool) -> None:
        super().__init__(path, tally)
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._guard = XmlGuard(path) if xml else None
        self.other_syntax = ""
        """What a file of OWL is written in that is not RDF/XML, by how it begins."""

    def read(self, size: int = -1) -> bytes:
        """As `ByteSource.read`; raises ParseError at the first byte that is not UTF-8.

        Raises InputError for entities of XML that could fill the memory, ParseError for elements that are
        nested too deep.
        """
        first_line = self.line
        data = super().read(size)
        try:
            self._utf8.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = first_line + data[: error.start].count(b"\n")
            raise ParseError(str(self.path), line, "invalid UTF-8", "Convert the file to UTF-8") from error
        if self._guard is not None:
            if reason := self._guard.take(data):
                reason = f"near line {self.line}: {reason}"
                raise ParseError(str(self.path), 0, reason, "Write the inner ones beside the outer ones")
            syntax = next((name for start, name in _OWL_STARTS if start.search(data)), "")
            self.other_syntax = self.other_syntax or syntax
        return data


_CONTEXT = re.compile(rb'((?<!\\)"@context"\s*:\s*\[?\s*)"(https?://[^"\s]{1,100})"')
"""An address that a context is, or begins with."""
_SCHEMA_ORG = {
    **{"@vocab": "http://schema.org/", "schema": "http://schema.org/", "id": "@id", "type": "@type"},
    **{"url": {"@type": "@id"}, "sameAs": {"@type": "@id"}},
}
_TO_THINGS = (
    "actor object target origin result instrument attributedTo inReplyTo to cc bto bcc audience following "
    "followers liked likes shares replies items first last next prev current partOf oneOf anyOf location "
    "outbox image icon attachment context generator tag url href preview relationship subject describes"
)
_TO_TIMES = "published updated startTime endTime deleted"
_ACTIVITY_STREAMS = {
    **{"@vocab": "https://www.w3.org/ns/activitystreams#", "id": "@id", "type": "@type"},
    **{"as": "https://www.w3.org/ns/activitystreams#", "ldp": "http://www.w3.org/ns/ldp#"},
    **{term: {"@type": "@id"} for term in _TO_THINGS.split()},
    **{term: {"@type": XSD + "dateTime"} for term in _TO_TIMES.split()},
    "inbox": {"@id": "ldp:inbox", "@type": "@id"},
    "orderedItems": {"@id": "as:items", "@type": "@id", "@container": "@list"},
}
_RO_CRATE = {
    **{"File": "schema:MediaObject", "Journal": "schema:Periodical"},
    "conformsTo": {"@id": "http://purl.org/dc/terms/conformsTo", "@type": "@id"},
}
_CANONICAL = re.compile(r"-?[0-9]\.[0-9]{1,17}E[0-9]{1,2}")
"""A double as XSD has it in canonical form."""
_KNOWN_CONTEXTS = (
    (rb"(?:www\.)?schema\.org/?(?:docs/jsonldcontext\.jsonl?d?)?", _SCHEMA_ORG),
    (rb"w3id\.org/ro/crate/1\.[\w.-]+/context", {**_SCHEMA_ORG, **_RO_CRATE}),
    (rb"www\.w3\.org/ns/activitystreams(?:\.jsonld)?#?", _ACTIVITY_STREAMS),
)
"""Addresses of contexts, behind `https://`, with the terms that they stand for."""
_LONGEST_CONTEXT = 200


def _terms_of(context: re.Match[bytes]) -> bytes:
    """The terms of a known context in the place of its address; another address as it is."""
    address = context[2].partition(b"://")[2]
    terms = next((terms for known, terms in _KNOWN_CONTEXTS if re.fullmatch(known, address)), None)
    return context[0] if terms is None else context[1] + json.dumps(terms).encode()


class _WithContext:
    """JSON-LD with the terms of known contexts in the place of their addresses: nothing is fetched."""

    def __init__(self, source: _Utf8Source) -> None:
        self._source, self._ready, self._rest, self._ended = source, b"", b"", False

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; raises as `_Utf8Source.read`."""
        while not self._ended and not self._ready:
            data = self._source.read(size)
            self._ended = not data
            text = _CONTEXT.sub(_terms_of, self._rest + data)
            cut = len(text) if self._ended else max(0, len(text) - _LONGEST_CONTEXT)
            self._ready, self._rest = text[:cut], text[cut:]
        stop = len(self._ready) if size < 0 else size
        part, self._ready = self._ready[:stop], self._ready[stop:]
        return part


_CELL = (RDF + "first", RDF + "rest")
_NTH = re.compile(re.escape(RDF) + r"_(\d+)")
MOST_HELD = 200_000
"""Cells of lists, and statements that may lead to one, that wait until the lists are whole.

Beyond it all are let go: a list that is not whole by then stays cells, which a note counts.
"""


@dataclass(slots=True)
class _Reified:
    """A statement that is spoken of: its ends as far as they are known, and what is said of it."""

    ends: dict[str, NodeKey] = field(default_factory=dict[str, NodeKey])
    properties: list[tuple[str, str, str | None]] = field(default_factory=list[tuple[str, str, str | None]])


def _ends_list(quad: pyoxigraph.Quad) -> bool:
    """Whether a statement is of the last cell of a list, or of an `rdf:Seq`."""
    predicate, object_ = quad.predicate.value, str(quad.object)
    is_last = predicate == RDF + "rest" and object_ == f"<{RDF}nil>"
    return is_last or _NTH.fullmatch(predicate) is not None


class _Sorter:
    """Sorts statements into triples, types, labels and aliases."""

    def __init__(self, path: Path, tally: Tally, *, nameless: bool, check: bool) -> None:
        import pyoxigraph

        self.batch = Batch(iris=True)
        self._check, self._base, self._relative = check, _base_of(path), False
        self._path, self._tally = path, tally
        self._schema = 0
        self._languages: Counter[str] = Counter()
        """Labels by their language, "" for those in the one that is read, or in none."""
        self._reified: defaultdict[str, _Reified] = defaultdict(_Reified)
        self._held: list[pyoxigraph.Quad] = []
        """What leads to nameless nodes, which may be lists."""
        self._cells: defaultdict[str, list[pyoxigraph.Quad]] = defaultdict(list)
        self._is_overfull, self._lists_left = False, 0
        """Whether more than `MOST_HELD` waited, and the lists since then that stay cells."""
        self._scope = f"{tally.scope}/" if tally.scope else ""
        self._number_nameless, self._numbers = nameless, dict[str, int]()
        self._node, self._triple = pyoxigraph.NamedNode, pyoxigraph.Triple
        self._literal, self._default = pyoxigraph.Literal, pyoxigraph.DefaultGraph
        self._blank = pyoxigraph.BlankNode

    def take(self, quad: pyoxigraph.Quad) -> None:
        """Take one statement, unless one of its IRIs is broken."""
        terms = (quad.subject, quad.predicate, cast(_Term, quad.object))
        iris = [term.value for term in terms if isinstance(term, self._node)]
        broken = [iri for iri in iris if not _IRI.fullmatch(iri)] if self._check else []
        if broken:
            reason = f"near line {self._tally.line}: <{broken[0]}> is no IRI"
            self._tally.error(ParseError(str(self._path), 0, reason, _LINES_ADVICE))
        elif not self._hold(quad):
            self._sort(quad)

    def _hold(self, quad: pyoxigraph.Quad) -> bool:
        """Hold back a cell of a list, or what may lead to one, until the list is whole."""
        predicate, is_cell = quad.predicate.value, isinstance(quad.subject, self._blank)
        if is_cell and (predicate in _CELL or _NTH.fullmatch(predicate)):
            self._cells[self._name(quad.subject)].append(quad)
        elif isinstance(quad.object, self._blank) and not predicate.startswith((RDF, RDFS, OWL)):
            self._held.append(quad)
        else:
            return False
        if len(self._held) + len(self._cells) > MOST_HELD:
            self._is_overfull = True
            self._release()
        return True

    def _release(self) -> None:
        """Add the members of lists in the place of the lists, and all that turned out to be none."""
        in_lists = set[str]()
        for quad in self._held:
            cells, members = self._members(quad.object)
            if not cells:
                self._sort(quad)
                continue
            in_lists |= cells
            subject, relation = self._name(quad.subject), quad.predicate.value
            for number, member in enumerate(members, 1):
                self.batch.add(subject, relation, member)
                position = (POSITION, str(number), XSD + "integer")
                self.batch.statements.append((subject, relation, member, (position, *self._graph_of(quad))))
            self._keep_beside(quad, is_triple=False, is_plain_type=False)
        for cell, quads in self._cells.items():
            if self._is_overfull and cell not in in_lists:
                self._lists_left += any(map(_ends_list, quads))
            for quad in quads:
                if cell in in_lists:
                    self._keep_beside(quad, is_triple=False, is_plain_type=False)
                else:
                    self._sort(quad)
        self._held.clear()
        self._cells.clear()

    def _members(self, node: _Term) -> tuple[set[str], list[NodeKey]]:
        """The cells of a whole list and its members in their order; no cells if it is none."""
        cells, members = set[str](), list[NodeKey]()
        while isinstance(node, self._blank) and (name := self._name(node)) not in cells:
            said = {quad.predicate.value: quad.object for quad in self._cells.get(name, ())}
            numbers = {int(hit[1]): term for key, term in said.items() if (hit := _NTH.fullmatch(key))}
            if numbers and not cells:
                return {name}, [self._key(numbers[number]) for number in sorted(numbers)]
            if not said.keys() >= {*_CELL}:
                return set(), []
            cells.add(name)
            members.append(self._key(said[RDF + "first"]))
            node = said[RDF + "rest"]
        is_whole = isinstance(node, self._node) and node.value == RDF + "nil"
        return (cells, members) if is_whole else (set(), [])

    def _graph_of(self, quad: pyoxigraph.Quad) -> tuple[tuple[str, str, None], ...]:
        """The property that says in which named graph a statement is."""
        is_named = not isinstance(quad.graph_name, self._default)
        return (("graph", self._name(quad.graph_name), None),) if is_named else ()

    def _sort(self, quad: pyoxigraph.Quad) -> None:
        """Add one statement to the batch."""
        subject, predicate, object_ = quad.subject, quad.predicate.value, cast(_Term, quad.object)
        iris = [term.value for term in (subject, quad.predicate, object_) if isinstance(term, self._node)]
        triples = len(self.batch.heads)
        is_type = predicate == _TYPE and isinstance(object_, self._node)
        # The graph keeps no type that is a class of RDF, RDFS or OWL themselves.
        is_plain_type = is_type and not object_.value.startswith((RDF, RDFS, OWL))
        if isinstance(object_, self._triple):
            self._take_about(subject, predicate, object_)
        elif any("/entity/statement/" in iri for iri in iris) and (part := _statement_part(predicate)):
            self._take_part(quad, *part)
        elif (
            isinstance(object_, self._node) and predicate.startswith(_ONTOLOGY) and "/prop/" in object_.value
        ):
            pass  # it says by what IRIs a property is written
        elif predicate in _REIFIED or (self._reified and self._name(subject) in self._reified):
            self._take_reified(quad)
        elif isinstance(object_, self._literal):
            self._take_literal(self._name(subject), predicate, object_)
        elif isinstance(object_, self._node) and object_.value == RDF + "nil" and predicate not in _CELL:
            pass  # a list without members
        elif is_type and object_.value in _CHARACTERS:
            self.batch.characters.append((self._name(subject), _CHARACTERS[object_.value]))
        elif is_plain_type:
            self.batch.types.append((self._name(subject), object_.value))
        elif is_type:
            self._schema += 1
        elif predicate in ENDS:
            terms = (subject, quad.predicate, object_)
            self.batch.ends.append((self._name(subject), predicate, self._name(object_), self._line(*terms)))
            if self._graph_of(quad):
                self.batch.beside.append(self._line(*terms, quad.graph_name))
            return
        else:
            self.batch.add(self._name(subject), predicate, self._name(object_))
        self._keep_beside(quad, is_triple=len(self.batch.heads) > triples, is_plain_type=is_plain_type)

    def _keep_beside(self, quad: pyoxigraph.Quad, *, is_triple: bool, is_plain_type: bool) -> None:
        """Keep the named graph of a triple, and statements that are no triples of the graph."""
        subject, predicate, object_ = quad.subject, quad.predicate.value, quad.object
        properties = self._graph_of(quad)
        if is_triple and properties:
            self.batch.statements.append((self._name(subject), predicate, self._key(object_), properties))
        terms = (subject, quad.predicate, object_)
        if not is_triple and not is_plain_type:
            self.batch.beside.append(self._line(*terms))
        if properties:
            self.batch.beside.append(self._line(*terms, quad.graph_name))

    def _line(self, *terms: _Term) -> str:
        """A statement as a line of N-Quads, with blank nodes by their names in the graph."""
        return " ".join(map(self._written, terms)) + " ."

    def _written(self, term: _Term) -> str:
        if isinstance(term, self._triple):
            return f"<<( {' '.join(map(self._written, (term.subject, term.predicate, term.object)))} )>>"
        is_named = isinstance(term, self._node | self._literal)
        return str(term) if is_named else blank_term(self._name(term))

    def _take_about(self, subject: _Term, predicate: str, triple: _Term) -> None:
        """Note of which triple a reifier (RDF 1.2) is; other triples about triples have no place."""
        if predicate == RDF + "reifies" and not isinstance(triple.object, self._triple):
            self._reified[self._name(subject)].ends |= {
                "subject": self._name(triple.subject),
                "predicate": triple.predicate.value,
                "object": self._key(triple.object),
            }
            return
        reason = f"a triple about a triple ({predicate}) has no place in a graph of entities"
        self._tally.error(ParseError(str(self._path), 0, reason, _LINES_ADVICE))

    def _take_reified(self, quad: pyoxigraph.Quad) -> None:
        """Note a part of a reified statement, or a property of it."""
        statement = self._reified[self._name(quad.subject)]
        predicate, object_ = quad.predicate.value, cast(_Term, quad.object)
        if predicate in _REIFIED:
            statement.ends[predicate.removeprefix(RDF)] = (
                object_.value if predicate == RDF + "predicate" else self._key(object_)
            )
        elif predicate != _TYPE:
            statement.properties.append(self._property(predicate, object_))

    def _take_part(self, quad: pyoxigraph.Quad, part: str, relation: str) -> None:
        """Note a part of a statement of Wikibase (`_statement_part`)."""
        statement = self._reified[self._name(quad.object if part == "claim" else quad.subject)]
        if part == "claim":
            statement.ends |= {"subject": self._name(quad.subject), "predicate": relation}
        elif part == "value":
            statement.ends["object"] = self._key(quad.object)
        elif part == "qualifier":
            statement.properties.append(self._property(relation, quad.object))

    def _property(self, key: str, term: _Term) -> tuple[str, str, str | None]:
        value = self._key(term)
        return (key, value, None) if isinstance(value, str) else (key, *value)

    def _key(self, term: _Term) -> NodeKey:
        if isinstance(term, self._literal):
            datatype = f"@{term.language}" if term.language else term.datatype.value
            # As the parser writes 12.5 of JSON: 1.25E1.
            is_plain = datatype == XSD + "double" and _CANONICAL.fullmatch(term.value)
            return (str(float(term.value)) if is_plain else term.value), datatype
        return self._name(term)

    def _take_literal(self, subject: str, predicate: str, literal: pyoxigraph.Literal) -> None:
        language = literal.language
        if predicate in LABELS:
            rank = self._rank(language)
            self._languages["" if rank < RANKS - 1 else (language or "").lower()] += 1
            self.batch.labels.append(Label(subject, literal.value, rank))
            if of_relation := _PROPERTY.fullmatch(subject):
                relation = f"{of_relation[1]}/prop/direct/{of_relation[2]}"
                self.batch.labels.append(Label(relation, literal.value, rank))
        elif predicate in NAMING_PROPERTIES:
            self.batch.labels.append(Label(subject, literal.value, RANKS + self._rank(language)))
        elif predicate == ALT_LABEL:
            self.batch.aliases.append((subject, literal.value))
        else:
            self.batch.add(subject, predicate, self._key(literal))

    def _rank(self, language: str | None) -> int:
        """The language that the user reads, then none, then a kind of that language, then the others."""
        if language is None:
            return 1
        tag, read_language = language.lower(), self._tally.hints.language.lower()
        return 0 if tag == read_language else 2 if tag.startswith(f"{read_language}-") else 3

    def _name(self, term: _Term) -> str:
        if isinstance(term, self._node):
            name = term.value
            self._relative = self._relative or name.startswith(self._base)
            return name
        name = str(term)[2:]
        if self._number_nameless and _NAMELESS.fullmatch(name):
            name = f"[{self._numbers.setdefault(name, len(self._numbers) + 1)}]"
        return f"_:{self._scope}{name}"

    def finish(self) -> None:
        """Add what is said of statements, and report what was left out."""
        self._release()
        if self._lists_left:
            cells = f"{self._lists_left:,} lists stay cells (rdf:first, rdf:rest)"
            advice = "write each beside what leads to it"
            self._tally.note(
                f"{self._path}: {cells}: over {MOST_HELD:,} statements waited for their ends; {advice}"
            )
        halves = 0
        for statement in self._reified.values():
            ends = statement.ends
            if len(ends) < len(_REIFIED) or not isinstance(ends["subject"], str):
                halves += 1
            elif statement.properties:
                triple = ends["subject"], str(ends["predicate"]), ends["object"]
                self.batch.statements.append((*triple, tuple(statement.properties)))
        if halves:
            self._tally.note(f"{self._path}: {halves} reified statements lack an end and are left out")
        if self._schema:
            types = "1 type" if self._schema == 1 else f"{self._schema:,} types"
            self._tally.note(f"{self._path}: left out: {types} that RDF, RDFS or OWL themselves have")
        if self._languages and not self._languages[""]:
            tag, *others = [tag for tag, _ in self._languages.most_common()]
            also = f" (others: {', '.join(sorted(others)[:5])})" if others else ""
            no_label = f"no label is in {self._tally.hints.language!r}"
            self._tally.note(f"{self._path}: {no_label}; --language {tag} reads them{also}")
        if self._relative:
            self._tally.note(f"{self._path}: names no base; its relative names begin with {self._base}")


NTRIPLES = RdfReader("ntriples", (".nt",), "N_TRIPLES")
NQUADS = RdfReader("nquads", (".nq",), "N_QUADS")
TURTLE = RdfReader("turtle", (".ttl",), "TURTLE")
TRIG = RdfReader("trig", (".trig",), "TRIG")
RDFXML = RdfReader("rdfxml", (".rdf", ".xml", ".owl"), "RDF_XML")
JSONLD = RdfReader("jsonld", (".jsonld",), "JSON_LD")
RDF_READERS = (NTRIPLES, NQUADS, TURTLE, TRIG, RDFXML, JSONLD)

if __name__ == "__main__":
    _say_batches(*sys.argv[1:])
