"""Answers in notebooks: HTML in which names are text, and data frames."""

from dataclasses import replace
from xml.etree import ElementTree as Xml

import pytest

from clew import Abstention, Citation, TripleText

EVIL = '<img src=x onerror="alert(1)">&\'</svg>'


def test_an_answer_is_a_table(films):
    html = films.ask("Which films share a director with Memento?")._repr_html_()
    assert "<td>Inception</td>" in html
    assert "Memento ─directed_by→ Christopher Nolan<br/>Inception ─directed_by→ Christopher Nolan" in html


def test_a_count_is_shown_with_all_that_is_counted(films):
    html = films.ask("How many films did Christopher Nolan direct?")._repr_html_()
    assert html.count("─directed_by→ Christopher Nolan") == 11


def test_groups_are_shown_with_their_numbers_and_how_they_were_read(films):
    answer = films.ask("How many films does each director have?")
    html = answer._repr_html_()
    assert "<td>Christopher Nolan</td><td>11</td>" in html
    assert f"Read as: {answer.reading}" in html
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame, (group, number) = answer.to_frame(), answer.rows.columns
    assert frame[frame[group] == "Christopher Nolan"][number].tolist() == [11]


def test_an_abstention_says_why_and_what_it_may_mean(films):
    answer = films.ask("Who painted Memento?")
    html = answer._repr_html_()
    assert "unplaced" in html
    assert all(f"<td>{other.reading}</td>" in html for other in answer.alternatives)


def test_a_verdict_is_a_table(films):
    html = films.verify("Christopher Nolan directed Memento and Jaws.")._repr_html_()
    assert html.count("<td>supported</td>") == html.count("<td>refuted</td>") == 1


def test_a_verdict_that_a_limit_ended_says_so(films):
    late = Abstention("budget", "<i>late")
    told = replace(films.verify("Christopher Nolan directed Jaws."), abstained=late)
    assert "&lt;i&gt;late" in told._repr_html_()


def test_an_index_is_a_table(films):
    assert "3,382 triples" in films.info()._repr_html_()


def test_names_are_text(films):
    answer = films.ask("Who directed Memento?")
    found = replace(answer.answers[0], entity=EVIL, label=EVIL)
    cited = Citation(EVIL, (TripleText(EVIL, EVIL, EVIL), TripleText("a", "b", EVIL)))
    html = replace(answer, question=EVIL, answers=(found,), citations=(cited,), notes=(EVIL,))._repr_html_()
    assert "<img" not in html
    tree = Xml.fromstring(html)  # noqa: S314 (made here)
    assert not [node for node in tree.iter() if node.tag.endswith("img")]


def test_frames(films):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = films.ask("Which films share a director with Memento?").to_frame()
    assert list(frame.columns) == ["entity", "label", "score", "triples"]
    assert "Inception" in set(frame["label"])
    assert list(films.verify("Christopher Nolan directed Jaws.").to_frame().columns) == [
        "text",
        "verdict",
        "triples",
    ]
    assert films.info().to_frame()["triples"].sum() == 3382


def test_without_a_library_of_frames_it_is_said(films, monkeypatch):
    from clew import MissingExtra
    from clew.foundation import forms

    monkeypatch.setattr(forms, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="frames"):
        films.info().to_frame()
