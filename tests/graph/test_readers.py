"""Readers: every format gives the same triples, every fault its own error."""

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import InputError, ParseError, UsageError
from clew.graph import RDF, RDFS, XSD
from clew.graph.build import build_graph
from clew.graph.readers.batch import Batch, OnError, Tally
from clew.graph.readers.hints import Hints
from clew.graph.readers.rdf import NTRIPLES, SMALL
from clew.graph.readers.registry import choose_reader
from clew.graph.readers.sources import Sources
from clew.graph.readers.stream import DEEPEST_FILE

Triple = tuple[str, str, str]

TRIPLES: list[Triple] = [
    ("http://e.org/a", "http://e.org/p", "http://e.org/b"),
    ("http://e.org/b", "http://e.org/p", "http://e.org/b"),
    ("http://e.org/b", "http://e.org/q", "http://e.org/ü"),
]


def read(path: Path, tally: Tally | None = None, format: str | None = None) -> list[Batch]:
    tally = tally or Tally()
    scope = tally.scope
    return list(Sources([path], format, tally.hints).read(0, tally, lambda _: scope))


def triples(batches: list[Batch]) -> list[Triple]:
    found = [(h, r, str(t)) for b in batches for h, r, t in zip(b.heads, b.relations, b.tails, strict=True)]
    for ids in (b.ids for b in batches if b.ids is not None):
        rows = zip(ids.head, ids.relation, ids.tail, strict=True)
        found += [(ids.entities[h], ids.relations[r], ids.entities[t]) for h, r, t in rows]
    return found


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _joined(delimiter: str) -> str:
    return "".join(delimiter.join(t) + "\n" for t in TRIPLES)


def _ntriples() -> str:
    return "".join(f"<{h}> <{r}> <{t}> .\n" for h, r, t in TRIPLES)


def _rdfxml() -> str:
    body = "".join(
        f'<rdf:Description rdf:about="{h}"><e:{r[-1]} rdf:resource="{t}"/></rdf:Description>\n'
        for h, r, t in TRIPLES
    )
    space = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    return f'<rdf:RDF xmlns:rdf="{space}" xmlns:e="http://e.org/">\n{body}</rdf:RDF>\n'


def _jsonld() -> str:
    return json.dumps([{"@id": h, r: {"@id": t}} for h, r, t in TRIPLES], indent=1, ensure_ascii=False)


def _links() -> str:
    links = [{"source": h, "type": r, "target": t} for h, r, t in TRIPLES]
    return json.dumps(links, indent=1, ensure_ascii=False)


def _arrays(directory: Path) -> Path:
    entities, relations = (
        sorted({n for h, _, t in TRIPLES for n in (h, t)}),
        sorted({r for _, r, _ in TRIPLES}),
    )
    directory.mkdir()
    write(directory / "entities.txt", "\n".join(entities) + "\n")
    write(directory / "relations.txt", "\n".join(relations) + "\n")
    for i, name, names in ((0, "head", entities), (1, "relation", relations), (2, "tail", entities)):
        np.save(directory / f"{name}.npy", np.array([names.index(t[i]) for t in TRIPLES], np.int32))
    return directory


def _network(path: Path, write_graph: str) -> Path:
    graph = networkx.MultiDiGraph()
    graph.add_edges_from((h, t, {"relation": r}) for h, r, t in TRIPLES)
    getattr(networkx, write_graph)(graph, path)
    return path


FORMATS: dict[str, Callable[[Path], Path]] = {
    "tsv": lambda d: write(d / "x.tsv", _joined("\t")),
    "pipe": lambda d: write(d / "x.psv", _joined("|")),
    "csv": lambda d: write(d / "x.csv", _joined(",")),
    "table": lambda d: write(
        d / "edges.csv", "source,type,target,since\n" + _joined(",").replace("\n", ",1\n")
    ),
    "ntriples": lambda d: write(d / "x.nt", _ntriples()),
    "nquads": lambda d: write(d / "x.nq", _ntriples().replace(" .", " <http://g.org/1> .")),
    "turtle": lambda d: write(
        d / "x.ttl", "@prefix e: <http://e.org/> .\ne:a e:p e:b . e:b e:p e:b ; e:q e:ü .\n"
    ),
    "trig": lambda d: write(d / "x.trig", f"<http://g.org/1> {{\n{_ntriples()}}}\n"),
    "rdfxml": lambda d: write(d / "x.rdf", _rdfxml()),
    "jsonld": lambda d: write(d / "x.jsonld", _jsonld()),
    "json": lambda d: write(d / "x.json", _links()),
    "arrays": lambda d: _arrays(d / "x"),
    "graphml": lambda d: _network(d / "x.graphml", "write_graphml_xml"),
    "gexf": lambda d: _network(d / "x.gexf", "write_gexf"),
    "pajek": lambda d: _network(d / "x.net", "write_pajek"),
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_the_same_triples(format: str, tmp_path: Path) -> None:
    path = FORMATS[format](tmp_path)
    assert choose_reader(path).name == format
    assert triples(read(path)) == TRIPLES


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "arrays"])
def test_gzip_bom_and_crlf_change_nothing(format: str, tmp_path: Path) -> None:
    path = FORMATS[format](tmp_path)
    data = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
    packed = write(path.with_name(path.name + ".gz"), gzip.compress(data))
    assert choose_reader(packed).name == format
    assert triples(read(packed)) == TRIPLES


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "arrays"])
def test_truncated_gzip_is_an_error_even_when_skipping(format: str, tmp_path: Path) -> None:
    path = FORMATS[format](tmp_path)
    packed = gzip.compress(path.read_bytes())
    cut = write(path.with_name(path.name + ".gz"), packed[: len(packed) - 9])
    with pytest.raises(ParseError, match="truncated"):
        read(cut, Tally("skip"))


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "arrays"])
def test_invalid_utf8_names_the_line(format: str, tmp_path: Path) -> None:
    path = FORMATS[format](tmp_path)
    # Damaged UTF-8, not a text of Windows: another character is sound.
    data = path.read_bytes().replace("ü".encode(), "ü".encode() + b"\xfc")
    line = data[: data.index(b"\xfc")].count(b"\n") + 1
    with pytest.raises(ParseError, match=rf":{line}: invalid UTF-8"):
        read(write(path, data))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.tsv", "a\tb\tc\na\t \tc\n", ":2: column 2 is empty"),
        ("a.psv", "a\tb\tc\n", "seems to be separated by tab.*--format tsv"),
        ("a.tsv", "# note\na\tb\tc\n", "no comments in this format"),
        ("a.tsv", "a\tb\tc\na\tb\0\tc\n", ":2: the line holds a NUL byte|binary"),
        ("a.csv", "a,b,c\na,b\n", ":2: 2 columns where 3"),
        ("a.csv", 'a,b,c\na,"b"x,c\n', ":2: broken CSV"),
        ("a.csv", 'a,b,c\na,"b,c\nd,e,f\n', ":2: broken CSV up to line 3"),
        ("a.csv", "a|b|c\n", r"seems to be separated by '\|'"),
        ("a.csv", "name,born,died,city\n", "a table"),
        ("a.csv", "id,name\n1,x\n2\n", ":3: 1 columns where the header has 2"),
        ("a.csv", "id,name\n,x\n", ":2: the id is empty"),
        ("a.csv", "source,target,type\n1,,x\n", ":2: a cell of the edge is empty"),
        ("a.nt", "<http://a/x> <http://a/p> <http://a/y> .\nnonsense\n", r":2: "),
        ("a.ttl", "<http://a/x> <http://a/p> <http://a/y> .\nx:y x:z 1 .\n",
         ":2: The prefix x: has not been declared"),
        ("a.rdf", "<rdf:RDF>", "near line 1: "),
        (
            "a.owl",
            '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://a/o">'
            '<Declaration><Class IRI="#a"/></Declaration></Ontology>',
            "the file is OWL/XML, which is not RDF/XML. Save it as RDF/XML or Turtle",
        ),
        ("a.owl", "Prefix(:=<http://a/>)\nOntology(<http://a/o>)", "OWL's functional syntax"),
        ("a.owl", "Prefix: : <http://a/>\nOntology: <http://a/o>", "OWL's Manchester syntax"),
        ("a.rdf", '<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r/>',
         "defined by other entities"),
        ("a.ttl", f'<http://a/x> <http://a/p> "{"x" * 17_000_000}" .',
         "near line 1: a statement is too long"),
        ("a.nt", "<x> <y> <z> .", ":1: No scheme found"),
        ("a.rdf", '<!DOCTYPE r [<!ENTITY a.b "x"><!ENTITY b "&a.b;">]><r/>',
         "defined by other entities"),
        ("a.rdf", '<!DOCTYPE r [<!ENTITY é "x"><!ENTITY b "y&é;">]><r/>',
         "defined by other entities"),
        ("a.rdf", '<!DOCTYPE r [<!entity a SYSTEM "/etc/passwd">]><r/>', "by another file"),
        ("a.rdf", '<!DOCTYPE r [<!ENTITY % a "x">]><r/>', "defined by other entities"),
        ("a.rdf", f'<!DOCTYPE r [<!ENTITY a "{"x" * 2_000}">]><r/>', "an XML entity is long"),
        ("a.rdf", f'<!--{"x" * 1_500_000}--><!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r/>',
         "defined by other entities"),
        ("a.txt", "\n \n", "blank lines only"),
        ("a.txt", "one two three\n", "format is not clear.*--format"),
        ("a.txt", "a|\tb\t|c\n", "first lines fit two formats"),
        ("a.tsv", b"\xef\xbb\xbf", "the file is empty"),
        ("a.tsv", b"\x89PNG\r\n\x00\x00", "binary"),
        ("a.tsv", b"PK\x03\x04abc", "zip archive"),
        ("a.tsv.bz2", "a\tb\tc\n", "not bzip2 data"),
        ("a.tsv.bz2", bz2.compress(b"a\tb\tc\n")[:-4], "truncated"),
        ("a.tsv.bz2", bz2.compress(b"a\tb\tc\n")[:20] + b"nonsense" * 9, "bzip2 data are damaged"),
        ("a.tsv.xz", lzma.compress(b"a\tb\tc\n")[:-4], "truncated"),
        ("a.tsv.xz", lzma.compress(b"a\tb\tc\n")[:20] + b"nonsense" * 9, "xz data are damaged"),
        ("a.jsonld", '{"@context": "https://example.org/terms", "name": "x"}', "nothing is fetched"),
        ("a.jsonld", '{"@id": "http://a/x",\n"http://a/p": ', "near line 2"),
    ],
)  # fmt: skip
def test_every_fault_has_its_own_error(name: str, text: str | bytes, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(InputError, match=reason) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_missing_file_wrong_directory_and_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "none.tsv")
    with pytest.raises(InputError, match=r"no file in this folder is called as one .* \.csv, .*\.ttl"):
        read(tmp_path)
    with pytest.raises(UsageError, match=r"unknown format 'xls'.*tsv"):
        read(write(tmp_path / "a.tsv", "a\tb\tc\n"), format="xls")


@pytest.mark.parametrize("newline", [b"\n", b""])
def test_a_line_of_ten_megabytes_is_an_error_or_skipped(newline: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", b"a\tb\tc\n" + b"x" * 10_000_000 + newline)
    with pytest.raises(ParseError, match=r":2: the line is longer than 1,048,576 bytes"):
        read(path)
    path = write(path, path.read_bytes() + b"\nd\te\tf\ng\th\n")
    tally = Tally("skip")
    assert triples(read(path, tally)) == [("a", "b", "c"), ("d", "e", "f")]
    last = 5 if newline else 4
    assert tally.skipped == 2
    assert f":{last}: 2 columns" in tally.reasons[1]


def test_skipping_counts_all_faults_and_keeps_the_first_reasons(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", b"\xc3\xa4\tb\tc\n\n" + b"bad\n" * 9 + b"\xff\tb\tc\n\nd\te\tf\n")
    tally = Tally("skip")
    assert triples(read(path, tally)) == [("ä", "b", "c"), ("d", "e", "f")]
    assert (tally.skipped, tally.blank, len(tally.reasons)) == (10, 2, 5)
    assert ":3: " in tally.reasons[0]


def test_skipping_a_bad_statement_keeps_the_others(tmp_path: Path) -> None:
    good = ["<http://a/x> <http://a/p> <http://a/y> .", "<http://a/y> <http://a/p> <http://a/z> ."]
    for name in ("a.nt", "a.ttl"):
        tally = Tally("skip")
        path = write(tmp_path / name, f"{good[0]}\nno statement .\n{good[1]}\n")
        assert len(triples(read(path, tally))) == 2
        assert tally.skipped == 1
    tally = Tally("skip")
    path = write(
        tmp_path / "b.nt",
        f'{good[0]}\n<http://a/x> <http://a/p> "'.encode() + b'\xff" .\n' + good[1].encode(),
    )
    assert len(triples(read(path, tally))) == 2
    assert tally.skipped == 1


def test_headers_are_taken_only_when_literal_and_are_reported(tmp_path: Path) -> None:
    for name, text in (
        ("a.tsv", "Head\tRelation\tTail\na\tb\tc\n"),
        ("a.csv", "Subject,predicate,object\na,b,c\n"),
    ):
        tally = Tally()
        assert triples(read(write(tmp_path / name, text), tally)) == [("a", "b", "c")]
        assert "taken as a header" in tally.notes[0]
    tally = Tally()
    path = write(tmp_path / "b.tsv", "film\tname\tperson\nhead\trelation\ttail\n")
    assert triples(read(path, tally)) == [("film", "name", "person"), ("head", "relation", "tail")]
    assert tally.notes == []


def test_escapes_of_tsv_and_pipe(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "a\\tb\tx\\\\n\tAC\\DC\nq\\\tr\\nr\t\\\\\n")
    assert triples(read(path)) == [("a\tb", "x\\n", "AC\\DC"), ("q\\", "r\nr", "\\")]
    path = write(tmp_path / "a.psv", "a\\|b|r|\\\\\n|x|y\n")
    tally = Tally("skip")
    assert triples(read(path, tally)) == [("a|b", "r", "\\")]
    assert "column 1 is empty" in tally.reasons[0]


def test_labels_in_other_languages_alone_are_told(tmp_path: Path) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    text = (
        f'<http://e.org/a> {label} "Queijo"@pt ; {label} "Käse"@de .\n<http://e.org/b> {label} "Pão"@pt .\n'
    )
    path = write(tmp_path / "a.ttl", text)
    tally = Tally()
    read(path, tally)
    assert tally.notes == [f"{path}: no label is in 'en'; --language pt reads them (others: de)"]
    tally = Tally(hints=Hints(language="de"))
    read(path, tally)
    assert tally.notes == []


def _described(about: str) -> str:
    return f'<rdf:Description rdf:about="{about}"><e:p rdf:resource="http://e.org/{about[-1]}"/></rdf:Description>\n'


def _xml(*abouts: str, head: str = "") -> str:
    space = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    body = "".join(map(_described, abouts))
    return f'{head}<rdf:RDF xmlns:rdf="{space}" xmlns:e="http://e.org/">\n{body}</rdf:RDF>\n'


def test_a_broken_iri_of_xml_or_json_is_skipped_and_all_others_are_read(tmp_path: Path) -> None:
    names = ("http://e.org/a", "http://e.org/b c", "http://e.org/d", "http://e.org/{e}")
    expected = [("http://e.org/a", "http://e.org/p"), ("http://e.org/d", "http://e.org/p")]
    objects = [{"@id": name, "http://e.org/p": {"@id": "http://e.org/x"}} for name in names]
    for path in (
        write(tmp_path / "a.rdf", _xml(*names)),
        write(tmp_path / "a.jsonld", json.dumps(objects)),
    ):
        tally = Tally("skip")
        assert [t[:2] for t in triples(read(path, tally))] == expected
        assert tally.skipped == 2
        assert "<http://e.org/b c> is no IRI" in tally.reasons[0]
        with pytest.raises(ParseError, match="b c> is no IRI"):
            read(path)


@pytest.mark.parametrize(
    "context",
    ["https://schema.org", "http://schema.org/", ["https://schema.org/", {"age": "http://schema.org/years"}]],
)
def test_the_context_of_schema_org_needs_no_network(tmp_path: Path, context: object) -> None:
    said = '"@context": "https://schema.org"'
    films = [
        {"@context": context, "@id": f"http://e.org/{i}", "@type": "Movie", "name": f"Film {i}",
         "director": {"@id": "http://e.org/d", "@type": "Person", "name": "Ann Lee"}, "abstract": said}
        for i in range(2_000)
    ]  # fmt: skip
    path = write(tmp_path / "films.jsonld", json.dumps(films))
    read_triples = triples(read(path))
    assert len(read_triples) == 4_000
    assert {t[1] for t in read_triples} == {"http://schema.org/director", "http://schema.org/abstract"}
    (text,) = {t[2] for t in read_triples} - {"http://e.org/d"}
    assert said in text


def test_the_context_of_activity_streams_needs_no_network(tmp_path: Path) -> None:
    outbox = {
        "@context": ["https://www.w3.org/ns/activitystreams", {"toot": "http://joinmastodon.org/ns#"}],
        "id": "http://e.org/n1", "type": "Note", "attributedTo": "http://e.org/ann", "toot:depth": 12.5,
    }  # fmt: skip
    read_triples = triples(read(write(tmp_path / "outbox.jsonld", json.dumps(outbox))))
    assert {(t[1].rpartition("#")[2], t[2]) for t in read_triples} == {
        ("attributedTo", "http://e.org/ann"),
        ("depth", str(("12.5", XSD + "double"))),
    }


def test_all_bad_places_are_told_in_one_run(tmp_path: Path) -> None:
    bad = "<http://a/x> <http://a/p> <http://a/{y}> .\n"
    good = "<http://a/x> <http://a/p> <http://a/y> .\n"
    for name in ("a.nt", "a.ttl"):
        tally = Tally(collect=True)
        path = write(tmp_path / name, (good + bad) * 3)
        assert len(triples(read(path, tally))) == 3
        with pytest.raises(ParseError, match=rf"{name}:2: ") as caught:
            tally.raise_faults()
        assert [line.split(": ")[0] for line in str(caught.value).splitlines()[1:]] == [
            f"  {path}:4",
            f"  {path}:6",
        ]
    path = write(path, bad * 50)
    with pytest.raises(ParseError, match="not read beyond this") as caught:
        read(path, Tally(collect=True))
    assert len(caught.value.others) == 19


def test_relative_names_are_relative_to_the_file_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "my wine.rdf", _xml("#a", "http://e.org/b"))
    tally = Tally()
    assert [t[0] for t in triples(read(path, tally))] == ["file:///my%20wine.rdf#a", "http://e.org/b"]
    assert "names no base; its relative names begin with file:///my%20wine.rdf" in tally.notes[0]
    tally = Tally()
    path = write(tmp_path / "b.rdf", _xml("#a").replace("<rdf:RDF", '<rdf:RDF xml:base="http://x.org/b"'))
    assert [t[0] for t in triples(read(path, tally))] == ["http://x.org/b#a"]
    assert tally.notes == []


def test_entities_that_are_prefixes_are_read(tmp_path: Path) -> None:
    head = '<!DOCTYPE rdf:RDF [<!ENTITY e.é "http://e.org/"><!ENTITY lt "&#38;#60;">]>'
    path = write(tmp_path / "a.rdf", _xml("&e.é;a", head=head))
    assert triples(read(path)) == [("http://e.org/a", "http://e.org/p", "http://e.org/a")]


def _nested_elements(depth: int) -> str:
    begin = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">'
    return begin + "<e:A>\n<e:p>" * depth + "</e:p></e:A>" * depth + "</rdf:RDF>"


@pytest.mark.parametrize("mode", ["fail", "skip"])
def test_elements_that_are_nested_too_deep_are_an_error_before_they_are_parsed(
    mode: OnError, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.rdf", _nested_elements(20_000))
    with pytest.raises(
        ParseError, match=f"near line .*: elements are nested more than {DEEPEST_FILE:,} deep"
    ):
        read(path, Tally(mode))
    path = write(tmp_path / "b.rdf", _nested_elements(300))
    assert len(triples(read(path))) == 300


def _nested(depth: int) -> str:
    return (
        "<http://a/s> <http://a/p> "
        + "<<( <http://a/s> <http://a/p> " * depth
        + "<http://a/o>"
        + " )>>" * depth
    )


@pytest.mark.parametrize("mode", ["fail", "skip"])
@pytest.mark.parametrize("name", ["a.ttl", "a.trig"])
def test_what_ends_the_parser_with_a_signal_is_a_parse_error(
    name: str, mode: OnError, tmp_path: Path
) -> None:
    path = write(tmp_path / name, _nested(30_000) + " .\n")
    with pytest.raises(ParseError, match="it ends the parser: statements are nested too deep") as caught:
        read(path, Tally(mode))
    assert str(path) in str(caught.value)


def test_a_literal_without_its_last_quote_takes_no_line_behind_it(tmp_path: Path) -> None:
    lines = [f"<http://e.org/{i}> <http://e.org/p> <http://e.org/{i + 1}> ." for i in range(6)]
    lines[1] = '<http://e.org/1> <http://e.org/p> "one .'
    lines[4] = "broken"
    tally = Tally("skip")
    batches = read(write(tmp_path / "a.nt", "\n".join(lines)), tally)
    assert [head[-1] for batch in batches for head in batch.heads] == ["0", "2", "3", "5"]
    assert tally.skipped == 2
    assert [":2: " in tally.reasons[0], ":5: " in tally.reasons[1]] == [True, True]


def test_a_large_file_gives_what_a_small_one_gives(tmp_path: Path) -> None:
    more = "".join(f'<http://e.org/{i}> <http://e.org/p> "{i}"@de .\n' for i in range(3_000))
    text = f'_:x <{RDFS}label> "X"@en .\n_:x <{RDF}type> <http://e.org/T> .\n\nbroken\n{more}'
    path = write(tmp_path / "a.nt", text)
    assert path.stat().st_size > SMALL
    there, here = Tally("skip", scope="7"), Tally("skip", scope="7")
    apart = read(path, there)
    assert apart == list(NTRIPLES.read_here(path, here))
    assert (
        (there.blank, there.skipped, there.reasons) == (here.blank, here.skipped, here.reasons) != (0, 0, [])
    )
    assert there.line == here.line
    with pytest.raises(ParseError, match=r"a\.nt:4: ") as caught:
        read(path)
    assert caught.value.line == 4


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
).filter(lambda text: text == text.strip())
ROWS = st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=8)


def _escape(name: str, delimiter: str) -> str:
    name = name.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return name.replace("|", "\\|") if delimiter == "|" else name


@pytest.mark.parametrize(("format", "delimiter"), [("tsv", "\t"), ("pipe", "|")])
@settings(max_examples=80)
@given(rows=ROWS)
def test_what_is_escaped_is_read_back(
    format: str, delimiter: str, rows: list[Triple], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "a" + delimiter + "b" + delimiter + "c\n"
    text += "".join(delimiter.join(_escape(f, delimiter) for f in row) + "\n" for row in rows)
    path = write(tmp_path_factory.mktemp("rows") / "x", text)
    assert triples(read(path, format=format))[1:] == rows


RDF_TEXT = """
@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
e:Film a owl:Class .
e:memento a e:Film ; rdfs:label "Le memento"@fr, "Memento"@en ; skos:altLabel "M" ;
  e:year 2000 ; e:tag "2000", "dark"@en ; e:cast [ e:actor e:guy ] ; e:by _:x .
"""


@pytest.mark.parametrize("padding", [0, SMALL])
def test_labels_are_in_the_language_of_the_user(padding: int, tmp_path: Path) -> None:
    text = RDF_TEXT.replace('"Memento"@en', '"Memento"@en, "Souvenir"@fr-CA, "Plain"') + "#" * padding
    tally = Tally(hints=Hints(language="fr"))
    (batch,) = read(write(tmp_path / "a.ttl", text), tally)
    assert {label.text: label.rank for label in batch.labels} == {
        "Le memento": 0, "Plain": 1, "Souvenir": 2, "Memento": 3,
    }  # fmt: skip
    with pytest.raises(UsageError, match="no language"):
        Hints(language="french please")


@pytest.mark.parametrize(("ending", "compress"), [(".bz2", bz2.compress), (".xz", lzma.compress)])
@pytest.mark.parametrize("format", ["tsv", "ttl"])
def test_other_compressions_change_nothing(
    format: str, ending: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    text = _joined("\t") if format == "tsv" else _ntriples()
    assert triples(read(write(tmp_path / f"a.{format}{ending}", compress(text.encode())))) == TRIPLES


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_and_noted(encoding: str, tmp_path: Path) -> None:
    text = _joined("\t") if encoding == "utf-16" else "\ufeff" + _joined("\t")
    tally = Tally()
    assert triples(read(write(tmp_path / "a.tsv", text.encode(encoding)), tally)) == TRIPLES
    assert tally.notes == [f"{tmp_path / 'a.tsv'}: read as UTF-16"]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_csv_of_another_delimiter_is_read_and_noted(delimiter: str, tmp_path: Path) -> None:
    rows = [("Pump, large", "made by", "Acme"), ("Bolt", "made by", 'The "A"')]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    tally = Tally()
    assert triples(read(write(tmp_path / "a.csv", text.getvalue()), tally)) == rows
    assert len(tally.notes) == 1
    nodes = write(
        tmp_path / "nodes.csv", delimiter.join(("id", "name", "type")) + f"\n1{delimiter}A{delimiter}B\n"
    )
    assert [t for b in read(nodes) for t in b.types] == [("1", "B")]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_a_header_in_words_of_its_own_is_noted(name: str, tmp_path: Path) -> None:
    delimiter = "," if name.endswith("csv") else "\t"
    rows = [("Product", "Says", "What"), *((f"p{i}", "made by", f"m{i % 3}") for i in range(9))]
    lines = [delimiter.join(row) + "\n" for row in rows]
    tally = Tally()
    assert triples(read(write(tmp_path / name, "".join(lines)), tally)) == rows
    assert "(Product, Says, What). If it is a header, remove it" in tally.notes[0]
    tally = Tally()
    read(write(tmp_path / name, "".join(lines[1:])), tally)
    assert tally.notes == []


def test_names_of_schema_org_and_foaf_are_labels_after_others(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.ttl",
        "<http://e/a> <http://schema.org/name> 'A' . <http://e/b> <http://xmlns.com/foaf/0.1/name> 'B'@en ;"
        " <http://www.w3.org/2000/01/rdf-schema#label> 'Beh'@de .",
    )
    (batch,) = read(path)
    best = {label.subject: label.text for label in sorted(batch.labels, key=lambda found: -found.rank)}
    assert best == {"http://e/a": "A", "http://e/b": "Beh"}
    assert batch.heads == []


def test_a_triple_about_a_triple_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ttl", "<http://a/w> <http://a/doubts> <<( <http://a/x> <http://a/p> 1 )>> .\n")
    with pytest.raises(ParseError, match="triple about a triple"):
        read(path)


def test_a_header_names_what_stands_between_the_items_of_a_list(tmp_path: Path) -> None:
    header = "id:ID,tags:string[]{delimiter:|},note:string{x;y},:LABEL{delimiter:¦}"
    path = write(tmp_path / "nodes.csv", f"{header}\n1,a;b|c,d;e,F;G¦H\n")
    batches = read(path)
    assert [t for b in batches for t in b.types] == [("1", "F;G"), ("1", "H")]
    found = [(r, t[0]) for b in batches for r, t in zip(b.relations, b.tails, strict=True)]
    assert found == [("tags", "a;b"), ("tags", "c"), ("note", "d;e")]


def test_neo4j_nodes_and_edges_of_a_directory(tmp_path: Path) -> None:
    write(
        tmp_path / "z.csv",
        "filmId:ID(Film),title,year:int,tags:string[],:LABEL,x:IGNORE\n7,Memento,2000,a;b,Film;Noir,q\n8,Tenet,,,Film,\n",
    )
    write(tmp_path / "y.csv", ":ID(P),name,born:date,:LABEL\n7,Guy Pearce,1967-10-05,Person\n")
    write(tmp_path / "a.csv", ":START_ID(P),role,:END_ID(Film),:TYPE\n7,Leonard,7,ACTED_IN\n")
    tally = Tally()
    batches = read(tmp_path, tally)
    assert [n for b in batches for n in b.nodes] == ["P:7", "Film:7", "Film:8"]
    assert [t for b in batches for t in b.types] == [
        ("P:7", "Person"),
        ("Film:7", "Film"),
        ("Film:7", "Noir"),
        ("Film:8", "Film"),
    ]
    assert [x.text for b in batches for x in b.labels] == ["Guy Pearce", "Memento", "Tenet"]
    found = [row for b in batches for row in zip(b.heads, b.relations, b.tails, strict=True)]
    assert found == [
        ("P:7", "born", ("1967-10-05", XSD + "date")),
        ("Film:7", "year", ("2000", XSD + "integer")),
        ("Film:7", "tags", ("a", XSD + "string")),
        ("Film:7", "tags", ("b", XSD + "string")),
        ("P:7", "ACTED_IN", "Film:7"),
    ]
    assert "properties of edges = role" in tally.notes[2]
    assert [s for b in batches for s in b.statements] == [
        ("P:7", "ACTED_IN", "Film:7", (("role", "Leonard", XSD + "string"),))
    ]


def test_arrays_that_do_not_fit_are_errors(tmp_path: Path) -> None:
    path = _arrays(tmp_path / "x")
    np.save(path / "tail.npy", np.array([0, 1, 99], np.int32))
    with pytest.raises(InputError, match=r"tail\.npy: holds ids from 0 to 99, but 3 names"):
        read(path)
    np.save(path / "tail.npy", np.array([0, 1], np.int32))
    with pytest.raises(InputError, match=r"different lengths \(3, 3, 2\)"):
        read(path)
    write(path / "entities.txt", "a\nb\na\n")
    with pytest.raises(ParseError, match=r"entities\.txt:3: 'a' is there twice"):
        read(path)
    (path / "relations.txt").unlink()
    with pytest.raises(InputError, match=r"lacks relations\.txt"):
        read(path)


def test_northwind_tables_are_joined_by_their_keys() -> None:
    path = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "neo4j_examples" / "northwind"
    if not path.exists():
        pytest.skip("the shared data are not here")
    with pytest.raises(ParseError, match=r"orders\.csv:4: 15 columns .*\n.*orders\.csv:5: 15 columns"):
        build_graph([path])
    graph, _ = build_graph([path], on_error="skip")
    nodes = {graph.entities[node]: node for node in range(graph.nodes)}
    relations = {graph.relations[relation]: relation for relation in range(len(graph.relations))}
    supplier = nodes["productID:1"], relations["supplierID"], nodes["supplierID:1"]
    assert graph.find_triple(*supplier) >= 0
    assert [graph.labels[node] for node in supplier[::2]] == ["Chai", "Exotic Liquids"]
    # The lines of an order are no order.
    details = [node for node in range(graph.nodes) if graph.labels[node].startswith("order detail ")]
    order, product = relations["orderID"], relations["productID"]
    assert graph.find_triple(details[0], order, nodes["orderID:10248"]) >= 0
    assert graph.find_triple(details[0], product, nodes["productID:11"]) >= 0
