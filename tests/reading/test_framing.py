"""What is said around a question is left out, and what may narrow it stays."""

import pytest

from clew.reading.framing import unframed


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Hi, who directed Heat?", "who directed Heat?"),
        ("Can you tell me who directed Heat?", "who directed Heat?"),
        ("I'd like to know who directed Heat.", "who directed Heat."),
        ("What I want to know is who directed Heat", "who directed Heat"),
        ("In this graph, films of Mann", "films of Mann"),
        ("According to the data: who directed Heat?", "who directed Heat?"),
        ("Who directed Heat in this knowledge graph?", "Who directed Heat?"),
        ("Who directed Heat, please?", "Who directed Heat?"),
        ("Who directed Heat? Thanks in advance!", "Who directed Heat?"),
        ("films of Mann please", "films of Mann"),
        ("films of Mann pls", "films of Mann"),
        ("no. of films of Mann", "number of films of Mann"),
        ("# of films", "number of films"),
        ("Are there no films of Mann?", "Are there no films of Mann?"),
        ("films of Mann so far?", "films of Mann?"),
        ("Give me a list of the films of Mann", "the films of Mann"),
        ("show me who directed Heat", "who directed Heat"),
        ("  Who\tdirected  Heat? \U0001f600", "Who directed Heat?"),
    ],
)
def test_talk_is_left_out(text: str, asks: str) -> None:
    assert unframed(text, lambda word: False) == asks


@pytest.mark.parametrize(
    "text",
    [
        "In winter, which animals hunt?",
        "Among sites, which has the most visitors?",
        "Is there somewhere halfway to get off, and what is it called?",
        "out of which mare is Kerry Blue",
        "Who, What, When",
        "Do we have Petouse?",
        "what should I look out for, pest-wise, on bed 4?",
        "list of Slate Hill Press",
        "hi",
        "\U0001f937",
        "thanks",
        "",
    ],
)
def test_what_may_narrow_a_question_stays(text: str) -> None:
    assert unframed(text, lambda word: False) == text


def test_words_of_the_graph_stay() -> None:
    graph = {"database", "know"}
    assert (
        unframed("In this database, who is admin?", graph.__contains__) == "In this database, who is admin?"
    )
    assert unframed("Do you know who directed Heat?", graph.__contains__) == "Do you know who directed Heat?"
