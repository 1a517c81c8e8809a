"""Indexing and looking into an index."""

import json

import pytest


def test_the_summary_counts(run, films, tmp_path):
    films.write_text(films.read_text() + "Memento\tyear\t2000\n")
    result = run("index", films)
    assert result.exit_code == 0
    assert result.stdout.startswith("films.clew: 106 triples, 110 entities, 4 relations; ")
    assert "1 duplicate triple merged" in result.stdout
    assert (tmp_path / "films.clew" / "manifest.json").exists()


def test_json_of_an_index(run, films):
    summary = json.loads(run("index", films, "-o", "x.clew", "--json").stdout)
    assert set(summary) == {"index", "bytes", "seconds", "counts", "embedder", "sources", "report"}
    assert summary["counts"] == json.loads(run("info", "x.clew", "--json").stdout)["counts"]


def test_the_default_name_leaves_out_both_endings(run, films, tmp_path):
    import gzip

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "kb.tsv.gz").write_bytes(gzip.compress(films.read_bytes()))
    assert run("index", folder / "kb.tsv.gz").exit_code == 0
    assert (tmp_path / "kb.clew").is_dir()


def test_side_files_beside_a_source_are_read(run, films):
    films.with_name("films.types.tsv").write_text("Memento\tmovie\n")
    summary = json.loads(run("index", films, "-o", "x.clew", "--json").stdout)
    assert [source["role"] for source in summary["sources"]] == ["source", "types"]
    other = films.with_name("other.tsv")
    other.write_text("Memento\tpicture\nMemento\tclassic\n")
    run("index", films, "-o", "y.clew", "--types", other)
    assert json.loads(run("info", "y.clew", "--json").stdout)["counts"]["types"] == 2


def test_notes_that_are_alike_are_told_twice_and_counted(run, tmp_path):
    names = [tmp_path / f"{letter}.csv" for letter in "abcd"]
    for number, path in enumerate(names):
        path.write_text(f"id,kind\n{number},x\n{number},y\n", "utf-8")
    told = run("index", *names, "-o", "x.clew").stderr
    assert told.count("several rows are of the same node (") == 2
    assert "note: the same, but for numbers, of 2 more sources" in told


def test_side_files(run, films, tmp_path):
    (tmp_path / "t").write_text("Memento\tfilm\nNobody\tperson\n")
    (tmp_path / "a").write_text("Christopher Nolan\tNolan\n")
    result = run("index", films, "--types", "t", "--aliases", "a")
    assert "1 type, 1 alias" in result.stdout
    assert "entities in side files that the graph lacks, on 1 line: Nobody\n" in result.stderr


def test_quiet_says_nothing(run, films):
    result = run("index", films, "--quiet")
    assert (result.stdout, result.stderr) == ("", "")


def test_options_of_graph_files_do_not_go_with_an_index(index):
    from clew import Clew, UsageError

    with pytest.raises(UsageError, match="'types' is for graph files"):
        Clew.open(index, types="t.tsv")


def test_info_shows_counts_relations_examples_and_types(run, index):
    text = run("info", index).stdout
    assert "triples    106" in text
    assert "directed_by   3 triples   Memento → Christopher Nolan" in text
    assert "  2 tails: 100% number" in text
    assert "embedder   clew-static (128 dimensions" in text


def test_info_json_has_signatures(run, index):
    info = json.loads(run("info", index, "--json").stdout)
    relation = next(r for r in info["relations"] if r["name"] == "directed_by")
    assert relation["example"] == ["Memento", "directed_by", "Christopher Nolan"]
    assert relation["head_types"] == [{"type": "head of year", "share": 0.6667, "declared": False}]
    assert (relation["triples"], relation["heads"], relation["tails"]) == (3, 3, 2)


def test_version_and_help(run):
    assert run("--version").stdout == "clew 0.1.0\n"
    assert "index" in run("--help").stdout
    assert run().stdout == run("--help").stdout
    assert run("bogus").exit_code == 2


def test_info_tells_what_updates_did(run, films):
    run("index", films, "-o", "x.clew")
    films.with_name("more.tsv").write_text("A film that nobody knows\tseen_by\tNobody\n")
    run("update", "x.clew", "--add", films.with_name("more.tsv"))
    told = json.loads(run("info", "x.clew", "--json").stdout)
    assert (len(told["updates"]), told["updates"][0]["added"]) == (1, 1)
    shown = run("info", "x.clew").stdout
    assert "1 triple added, 0 removed by the last" in shown


def test_an_example_is_shown_as_people_read_it(run, tmp_path):
    graph = tmp_path / "g.ttl"
    graph.write_text(
        "@prefix e: <http://e.org/> . @prefix l: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "e:q1 l:label 'Pump' ; e:madeBy e:q2 ; e:price 12.5 . e:q2 l:label 'Acme' ."
    )
    shown = run("info", graph).stdout
    assert "madeBy   1 triple   Pump → Acme" in shown
    assert "1 tail: 100% decimal" in shown
    told = json.loads(run("info", graph, "--json").stdout)["relations"][0]
    assert told["example"] == ["Pump", "madeBy", "Acme"]
    assert told["example_ids"] == ["http://e.org/q1", "http://e.org/madeBy", "http://e.org/q2"]


def test_info_verify_reads_all_files_and_names_a_damaged_one(index, films, run):
    assert "files are as they were written" in run("info", index, "--verify").stdout
    assert json.loads(run("info", index, "--verify", "--json").stdout)["verified_files"] > 20
    file = next(index.glob("gen-*/graph.entities.blob.npy"))
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    result = run("info", index, "--verify")
    assert result.exit_code == 2
    assert "graph.entities.blob.npy: damaged" in result.stderr
    result = run("info", films, "--verify")
    assert result.exit_code == 2
    assert "is no index" in result.stderr


def test_a_graph_is_read_from_stdin(run):
    text = "from,to,relationship\nInception,Christopher Nolan,directed by\nTenet,Emma Thomas,produced by\n"
    result = run("index", "-", "-o", "x.clew", "--json", input=text)
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert summary["counts"]["triples"] == 2
    assert [source["path"] for source in summary["sources"]] == ["stdin"]
    assert "head = from, relation = relationship, tail = to" in summary["report"]["notes"][0]
    result = run("info", "-", "--json", input=text)
    assert json.loads(result.stdout)["counts"]["triples"] == 2
    for given, message in (((), "Say where the index shall be"), (("-o", "y.clew"), "stdin is empty")):
        result = run("index", "-", *given, input="")
        assert result.exit_code == 2
        assert message in result.stderr


def test_columns_of_a_table_are_said(run, tmp_path):
    (tmp_path / "routes.dat").write_text("2B,410,AER,2965,KZN\n2B,410,ASF,2966,KZN\n")
    said = ("--columns", "head=3,tail=5", "--relation", "flies to")
    result = run("index", "routes.dat", *said, "-o", "x.clew", "--json")
    assert result.exit_code == 0
    told = json.loads(run("info", "x.clew", "--json").stdout)
    assert [relation["name"] for relation in told["relations"]] == ["flies to"]
    assert told["counts"]["entities"] == 3
    result = run("index", "routes.dat", "--columns", "head=3", "-o", "y.clew")
    assert result.exit_code == 2
    assert "need a head and a tail" in result.stderr
