"""The page in a real browser: headless Chromium, driven by Selenium."""

import json
import re
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest

from clew.llm.testing import ScriptedModel
from servers.served import EVIL

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(
        shutil.which("chromium") is None or shutil.which("chromedriver") is None,
        reason="no Chromium (apt-get install chromium chromium-driver)",
    ),
]
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1280,900",
)  # fmt: skip
DRAWING = "document.querySelector('.evidence').drawing"
SHARED = "Which films share a director with Memento?"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    downloads = tmp_path_factory.mktemp("downloads")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_page_load_timeout(60)
    driver.downloads = downloads
    driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield driver
    driver.quit()


@pytest.fixture
def page(driver):
    """Open an address of a server; in the end the browser must have nothing to complain of."""
    driver.get("about:blank")
    driver.get_log("browser")

    def open_page(running, place=""):
        driver.get("about:blank")
        driver.get(f"{running.url}/{place}")
        wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, "#main > *"))
        return driver

    yield open_page
    wrong = [
        entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
    ]
    assert wrong == []


def wait(driver, told, seconds=20):
    """Wait for what is told of the page, which may be drawn anew meanwhile."""
    stale = [StaleElementReferenceException]
    return WebDriverWait(driver, seconds, 0.05, ignored_exceptions=stale).until(told)


def text_of(driver, selector, seconds=20):
    return wait(driver, lambda d: [e.text for e in d.find_elements(By.CSS_SELECTOR, selector)], seconds)


def drawn(driver):
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".evidence[data-drawn]"))


def test_a_question_is_answered_and_its_evidence_drawn(page, films):
    driver = page(films)
    field = driver.find_element(By.ID, "question")
    assert driver.switch_to.active_element == field
    field.send_keys(SHARED, Keys.ENTER)
    assert text_of(driver, ".found h2") == ["10 answers"]
    assert text_of(driver, ".row-name")[:2] == ["Insomnia", "Batman Begins"]
    assert text_of(driver, ".proof .triple") == [
        "Memento ─directed by→ Christopher Nolan",
        "Insomnia ─directed by→ Christopher Nolan",
    ]
    drawn(driver)
    assert "q=Which+films" in driver.current_url
    asked = driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert asked
    assert all(re.match(re.escape(films.url), name) for name in asked)  # nothing is asked of another server


def test_a_link_keeps_what_was_asked(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    assert text_of(driver, ".found h2") == ["10 answers"]
    assert driver.find_element(By.ID, "question").get_attribute("value") == SHARED
    driver.find_element(By.LINK_TEXT, "Browse").click()
    wait(driver, lambda d: d.find_element(By.CSS_SELECTOR, ".result h2").text == "What this graph holds")
    driver.back()
    assert text_of(driver, ".found h2") == ["10 answers"]


def ask_on(driver, question):
    wait(driver, lambda d: d.find_element(By.ID, "follow-up").is_displayed())
    turns = len(driver.find_elements(By.CSS_SELECTOR, ".turn")) or 1
    driver.find_element(By.ID, "follow-up").send_keys(question, Keys.ENTER)
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".turn")) == turns + 1)


def test_a_question_goes_on_from_the_last_answer(page, films):
    driver = page(films, f"#/films/ask?q={quote('Which films did Christopher Nolan direct?')}")
    assert text_of(driver, ".found h2") == ["11 answers"]
    ask_on(driver, "Only those after 2010")
    assert driver.switch_to.active_element.get_attribute("id") == "follow-up"
    ask_on(driver, "How many are they?")
    told = [line.split(" · ")[0] for line in text_of(driver, ".turn > summary")]
    assert told == [
        "Which films did Christopher Nolan direct? 11 answers: Memento",
        "Only those after 2010 5 answers: The Dark Knight Rises",
        "How many are they? 5",
    ]
    # The last one is open, with how it was read; a click opens an earlier one.
    assert text_of(driver, ".turn[open] .reading") == [
        "the number of films directed by Christopher Nolan whose release year is after 2010"
    ]
    driver.find_element(By.CSS_SELECTOR, ".turn > summary").click()
    assert text_of(driver, ".turn:first-child .reading") == ["films directed by Christopher Nolan"]
    assert [e.is_displayed() for e in driver.find_elements(By.CSS_SELECTOR, ".turn .found")] == [True, True]


def test_a_link_keeps_a_thread(page, films):
    asked = {"q": "Who directed Memento?", "q2": "And Heat?", "q3": "Which films did he direct?"}
    place = "&".join(f"{key}={quote(text)}" for key, text in asked.items())
    driver = page(films, f"#/films/ask?{place}")
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".turn")) == 3)
    assert text_of(driver, ".turn[open] .reading") == ["films directed by Michael Mann"]
    driver.refresh()
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".turn")) == 3)
    ask_on(driver, "And Christopher Nolan?")
    assert "q4=And+Christopher+Nolan" in driver.current_url
    driver.back()
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".turn")) == 3)


def test_a_thread_is_begun_anew(page, films):
    driver = page(films, "#/films/ask?q=Who+directed+Memento%3F&q2=And+Heat%3F")
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".turn")) == 2)
    driver.find_element(By.XPATH, "//button[text()='Start anew']").click()
    assert driver.switch_to.active_element.get_attribute("id") == "question"
    assert "q=" not in driver.current_url
    assert driver.find_elements(By.CSS_SELECTOR, ".turn") == []
    assert not driver.find_element(By.ID, "follow-up").is_displayed()
    # What is asked in the first field is no follow-up: there is nothing that "it" stands for.
    driver.switch_to.active_element.send_keys("Who wrote it?", Keys.ENTER)
    assert text_of(driver, ".abstained h2", 20)


def test_what_a_follow_up_cannot_be_read_as_is_left_open_and_the_thread_goes_on(page, films):
    driver = page(films, "#/films/ask?q=How+many+films+did+Christopher+Nolan+direct%3F")
    ask_on(driver, "Who painted it?")
    assert text_of(driver, ".turn[open] .abstained h2")
    assert text_of(driver, ".turn:last-child > summary") == ["Who painted it? no answer"]
    ask_on(driver, "How many films did Martin Scorsese direct?")
    assert text_of(driver, ".turn[open] .found h2") == ["9"]


def test_a_follow_up_that_is_left_open_marks_its_words(page, films):
    driver = page(films, "#/films/ask?q=Who+directed+Memento%3F&q2=Who+painted+it%3F")
    assert text_of(driver, ".turn[open] .abstained h2") == ["I can’t place painted"]
    assert text_of(driver, ".turn[open] .word.unplaced .said") == ["painted"]
    assert text_of(driver, ".turn[open] .word.name") == ["it\nname: Memento"]


def test_names_are_completed_by_keyboard(page, films):
    driver = page(films)
    field = driver.find_element(By.ID, "question")
    field.send_keys("Who directed Mem")
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".offers:not([hidden]) li"))
    assert field.get_attribute("aria-expanded") == "true"
    field.send_keys(Keys.ARROW_DOWN)
    assert field.get_attribute("aria-activedescendant")
    field.send_keys(Keys.ENTER)
    assert field.get_attribute("value") == "Who directed Memento"
    field.send_keys("?", Keys.ENTER)
    assert text_of(driver, ".found h2") == ["Christopher Nolan"]


def test_another_answer_is_chosen_by_keyboard(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    wait(driver, lambda d: len(text_of(d, ".entities td")) == 10)
    driver.find_element(By.CSS_SELECTOR, ".row-name").send_keys(Keys.ARROW_DOWN)
    assert text_of(driver, ".proof h3") == ["Proof of Batman Begins"]
    assert driver.switch_to.active_element.text == "Batman Begins"


def test_words_of_a_question_are_marked_by_what_they_are(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    marks = [text.split("\n") for text in text_of(driver, ".word") if "\n" in text]
    assert marks == [["films", "type: film"], ["director", "relation: directed by"], ["Memento", "name"]]
    assert text_of(driver, ".reading") == ["other films with the same director as Memento"]


def test_a_word_that_is_not_placed_is_told_and_the_rest_is_answered(page, depots):
    driver = page(depots, f"#/depots/ask?q={quote('Which flimsy employees work at North Depot?')}")
    assert text_of(driver, ".abstained h2") == ["I can’t place flimsy"]
    assert [text.split("\n")[0] for text in text_of(driver, ".word.unplaced")] == ["flimsy"]
    driver.find_element(By.XPATH, "//button[text()='what does it mean here?']").click()
    field = driver.switch_to.active_element
    field.send_keys('employee[role = "clerk"]')
    line = "[terms]\nflimsy = 'employee[role = \"clerk\"]'"
    assert text_of(driver, ".draft pre") == [line]
    field.send_keys(Keys.ENTER)
    wait(driver, lambda d: "It stands for 3: David Lang" in d.find_element(By.CSS_SELECTOR, ".draft").text)
    driver.find_element(By.CSS_SELECTOR, ".abstained button.main").click()
    assert text_of(driver, ".found h2") == ["2 answers"]
    assert "partial=yes" in driver.current_url


def test_people_read_names_and_ids_only_where_a_name_is_shared(page, depots):
    driver = page(depots, f"#/depots/ask?q={quote('Who works at North Depot?')}")
    wait(driver, lambda d: len(text_of(d, ".entities td")) == 2)
    assert text_of(driver, ".row-name") == ["Anna Keller (E01)", "Bruno Weiss"]
    assert text_of(driver, ".entities td") == ["North Depot", "North Depot"]
    drawn(driver)
    assert drawn_names(driver) == {"Anna Keller (E01)", "Bruno Weiss", "North Depot"}
    text = driver.find_element(By.ID, "main").text
    assert re.findall(r"\b[ED]\d+\b", text.replace("Anna Keller (E01)", "")) == []
    assert "since 2015-03-01 · hours 40 · status active" in text
    (link, *_) = driver.find_elements(By.CSS_SELECTOR, ".proof a.node")
    assert link.get_attribute("title") == "E01"


def test_groups_are_rows_that_are_sorted_by_their_heads(page, films):
    driver = page(films, f"#/films/ask?q={quote('How many films did each director make?')}")
    assert text_of(driver, "tbody tr:first-child") == ["Christopher Nolan 11"]
    (_, head) = driver.find_elements(By.CSS_SELECTOR, ".sort")
    head.click()
    assert text_of(driver, "tbody tr:first-child") == ["Christopher Nolan 11"]
    driver.find_elements(By.CSS_SELECTOR, ".sort")[1].click()
    assert text_of(driver, "tbody tr:first-child")[0].endswith(" 1")
    assert driver.switch_to.active_element.text.startswith("number of films")


def test_subgraphs_are_shown_with_their_distances(page, running, films_index):
    pattern = {
        "divided": ["who directed Memento"],
        "triples": [["Memento", "directed by", "UNKNOWN person 1"]],
    }
    said = iter((json.dumps(pattern), '{"reason": "as shown", "answers": ["Christopher Nolan"]}'))
    server = running({"films": films_index}, models={"m": ScriptedModel(lambda _: next(said))})
    driver = page(server, f"#/films/ask?q={quote('Who directed Memento?')}&method=simgrag&model=m")
    # Where the kernels were never compiled the first match takes half a minute.
    assert text_of(driver, ".subgraphs td", 120)[:2] == ["0.000", "Memento ─directed by→ Christopher Nolan"]


def test_another_reading_is_answered_by_a_click(page, films):
    question = "who made it best in Memento or Heat"
    told = films.client.post("/v1/films/ask", json={"question": question}).json()
    first = told["alternatives"][0]
    driver = page(films, f"#/films/ask?q={quote(question)}")
    assert text_of(driver, ".alternatives .score")[0] == f"{round(first['score'] * 100)} %"
    driver.find_element(By.CSS_SELECTOR, ".alternatives button").click()
    wait(driver, lambda d: text_of(d, ".reading") == [first["reading"]])
    assert driver.find_element(By.CSS_SELECTOR, ".alternatives [aria-current]").text == first["reading"]
    assert "reading=1" in driver.current_url
    driver.refresh()  # the link keeps the choice
    wait(driver, lambda d: text_of(d, ".reading") == [first["reading"]])


def test_an_abstention_helps(page, films):
    driver = page(films, f"#/films/ask?q={quote('Who painted Memento?')}")
    assert text_of(driver, ".abstained h2") == ["I can’t place painted"]
    facts = wait(driver, lambda d: text_of(d, ".recorded .facts > div"))
    assert "release year\n2000" in facts


def test_a_node_is_expanded_hidden_and_undone(page, films):
    driver = page(films, f"#/films/ask?q={quote('Who directed Memento?')}")
    drawn(driver)
    assert drawn_names(driver) == {"Memento", "Christopher Nolan"}
    driver.find_element(By.CSS_SELECTOR, ".drawn-names summary").click()
    driver.find_element(By.XPATH, "//*[@class='drawn-names']//button[.='Memento']").click()
    driver.find_element(By.XPATH, "//button[text()='Expand']").click()
    wait(driver, lambda d: {"2000", "113"} <= drawn_names(d))
    driver.find_element(By.XPATH, "//*[@class='drawn-names']//button[.='113']").click()
    driver.find_element(By.XPATH, "//button[text()='Hide']").click()
    assert "113" not in drawn_names(driver)
    for _ in range(2):
        driver.find_element(By.XPATH, "//button[text()='Undo']").click()
    assert drawn_names(driver) == {"Memento", "Christopher Nolan"}


def test_types_are_told_by_colour_and_hidden_at_a_click(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    wait(
        driver,
        lambda d: [b.split() for b in text_of(d, ".legend button")] == [["film", "11"], ["person", "1"]],
    )
    driver.find_elements(By.CSS_SELECTOR, ".legend button")[1].click()
    assert drawn_names(driver) == set()
    driver.find_elements(By.CSS_SELECTOR, ".legend button")[1].click()
    assert len(drawn_names(driver)) == 12


BOXES = """
const {drawing} = document.querySelector('.evidence');
const nodes = drawing.nodes().filter(node => !node.isParent());
const boxes = nodes.map(node => node.renderedBoundingBox({includeLabels: true, includeOverlays: false}));
const size = node => parseFloat(node.style('font-size')) * drawing.zoom();
const frame = document.querySelector('.evidence .scroll');
const cut = [frame.scrollWidth - frame.clientWidth, frame.scrollHeight - frame.clientHeight];
return [boxes.map(b => [b.x1, b.y1, b.x2, b.y2]), drawing.elements().map(size), cut];
"""
ACTORS = "Which actors starred in films directed by Christopher Nolan?"


@pytest.mark.parametrize(
    ("question", "count", "width"),
    [
        (SHARED, 12, 480),
        ("Which films are from the United States?", 60, 480),
        (ACTORS, 49, 1400),
    ],
)
def test_labels_of_evidence_can_be_read(page, films, question, count, width):
    """Letters of 11 px and more, no name over another and none cut, however many there are."""
    driver = page(films)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page(films, f"#/films/ask?q={quote(question)}")
        wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".legend button"))
        boxes, sizes, cut = driver.execute_script(BOXES)
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(boxes) == count
    assert min(sizes) >= 11
    assert cut == [0, 0]
    for at, (left, top, right, bottom) in enumerate(boxes):
        for x1, y1, x2, y2 in boxes[:at]:
            assert right <= x1 + 1 or x2 <= left + 1 or bottom <= y1 + 1 or y2 <= top + 1


def test_a_claim_is_coloured(page, films):
    driver = page(films, f"#/films/verify?q={quote('Christopher Nolan directed Memento and Jaws.')}")
    assert text_of(driver, ".verdict") == ["✗ Refuted"]
    parts = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".part"))
    assert [part.get_attribute("class") for part in parts] == ["part supported", "part refuted"]
    drawn(driver)
    script = f"return {DRAWING}.edges().map(e => [e.source().data('label'), e.hasClass('supported')])"
    assert dict(driver.execute_script(script))["Memento"] is True


def test_methods_are_seen_side_by_side(page, films):
    driver = page(films, f"#/films/compare?q={quote('Who directed Memento?')}&methods=auto,simgrag")
    assert text_of(driver, ".compared tbody th") == ["auto", "simgrag"]
    assert text_of(driver, ".compared .chip") == ["Christopher Nolan"]
    driver.find_element(By.LINK_TEXT, "auto").click()
    assert text_of(driver, ".found h2") == ["Christopher Nolan"]
    assert "auto" in text_of(driver, ".figures")[0]


def test_a_method_that_has_no_answer_says_why_in_words(page, films):
    driver = page(films, f"#/films/compare?q={quote('What is the budget of Memento?')}&methods=auto")
    (said,) = text_of(driver, ".compared .said")
    assert said.startswith("No answer. Some words of the question have no place in this graph.")
    assert '"budget"' in said


def test_a_graph_is_browsed(page, films):
    driver = page(films, "#/films/browse")
    assert text_of(driver, ".relations tbody th")[0] == "starring"
    drawn(driver)
    driver.find_element(By.CSS_SELECTOR, ".question").send_keys("Christopher Nolan", Keys.ENTER)
    wait(driver, lambda d: "Christopher Nolan" in d.find_element(By.CSS_SELECTOR, ".result h2").text)
    more = wait(
        driver, lambda d: [b for b in d.find_elements(By.CSS_SELECTOR, "button.link") if b.is_displayed()]
    )
    count = len(driver.find_elements(By.CSS_SELECTOR, ".nodes li"))
    more[0].click()
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".nodes li")) > count)


def test_a_type_is_a_table_that_is_sorted_filtered_and_paged(page, films):
    driver = page(films, "#/films/browse?type=film")
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, "tbody tr")) > 50)

    def first():
        return driver.find_element(By.CSS_SELECTOR, ".entities tbody tr").text

    def head(label):
        return driver.find_element(By.XPATH, f"//th//button[starts-with(., '{label}')]")

    head("release year").click()
    wait(driver, lambda d: " 1940 " in first())
    head("release year").click()
    wait(driver, lambda d: " 2023 " in first())
    assert driver.switch_to.active_element.text.startswith("release year")  # the focus stays where it was
    driver.find_element(By.XPATH, "//button[starts-with(., 'Next')]").click()
    wait(driver, lambda d: "51 to 100 of 266" in d.find_element(By.CSS_SELECTOR, ".pager").text)
    driver.find_element(By.CSS_SELECTOR, "[aria-label='Values of release year']").click()
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".bars button")) == 17)
    driver.find_element(By.CSS_SELECTOR, "[aria-label='Values of directed by']").click()
    wait(driver, lambda d: "Christopher Nolan 11" in text_of(d, ".counted button"))
    driver.find_element(By.CSS_SELECTOR, ".counted button").click()
    wait(driver, lambda d: d.find_element(By.CSS_SELECTOR, ".table .quiet").text == "11 rows")
    assert first().startswith("Oppenheimer 2023")


def test_queries_are_completed_run_and_put_right(page, films):
    driver = page(films, f"#/films/query?q={quote('film .directd_by')}")
    assert text_of(driver, ".failed mark") == [".directd_by"]
    driver.get_log("browser")  # that the query was refused
    editor = driver.find_element(By.ID, "query")
    editor.clear()
    editor.send_keys("film[runti")
    wait(driver, lambda d: "runtime minutes" in text_of(d, ".offers:not([hidden]) li bdi"))
    editor.clear()
    editor.send_keys("{Christopher No")
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".offers:not([hidden]) li"))
    editor.send_keys(Keys.ARROW_DOWN, Keys.ENTER, "} ^directed")
    wait(driver, lambda d: "directed by" in text_of(d, ".offers:not([hidden]) li bdi"))
    editor.send_keys(Keys.ARROW_DOWN, Keys.ENTER, Keys.CONTROL, Keys.ENTER)
    wait(driver, lambda d: "11 rows" in text_of(d, ".table .quiet"))
    assert quote("^directed_by") in driver.current_url
    sparql = "SELECT ?n (COUNT(?f) AS ?films) WHERE { ?f ?r ?n } GROUP BY ?n ORDER BY DESC(?films) LIMIT 3"
    page(films, f"#/films/query?lang=sparql&q={quote(sparql)}")
    assert len(text_of(driver, "tbody tr")) == 3


@pytest.mark.parametrize(
    ("begun", "offered"), [("MATCH (p:per", "person"), ("MATCH (p)-[:direc", "directed by")]
)
def test_types_and_relations_of_cypher_are_completed(page, films, begun, offered):
    driver = page(films, "#/films/query?lang=cypher")
    driver.find_element(By.ID, "query").send_keys(begun)
    assert text_of(driver, ".offers:not([hidden]) li bdi")[0] == offered


LINES_OVER_NAMES = """
const {drawing} = document.querySelector('.evidence');
const boxes = drawing.nodes().filter(node => !node.isParent());
const inside = ({x, y}, node) => {
  const {x1, y1, x2, y2} = node.boundingBox({includeLabels: false, includeOverlays: false});
  return x > x1 + 4 && x < x2 - 4 && y > y1 + 4 && y < y2 - 4;
};
const over = [];
for (const edge of drawing.edges()) {
  const way = [edge.sourceEndpoint(), ...(edge.segmentPoints() ?? []), edge.targetEndpoint()];
  for (let at = 1; at < way.length; at += 1) for (let part = 0; part <= 1; part += 0.02) {
    const [a, b] = [way[at - 1], way[at]];
    const point = {x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part};
    for (const node of boxes) if (inside(point, node)) over.push([edge.id(), node.id()]);
  }
}
return over;
"""


@pytest.mark.parametrize("place", ["browse?entity=Christopher%20Nolan", f"ask?q={quote(ACTORS)}"])
def test_no_line_runs_over_a_name(page, films, place):
    driver = page(films, f"#/films/{place}")
    drawn(driver)
    assert driver.execute_script(LINES_OVER_NAMES) == []


def test_columns_are_described_and_chosen(page, films):
    driver = page(films, "#/films/browse?type=person")
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".columns summary"))[0].click()
    rows = [text.split("\n")[0] for text in text_of(driver, ".choose tbody tr")]
    assert "films directed by … 17 %" in rows
    driver.find_element(By.XPATH, "//label[.='films directed by …']").click()
    wait(driver, lambda d: "films directed by …" in d.find_element(By.CSS_SELECTOR, ".entities thead").text)


def test_a_table_is_saved_as_a_file(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    wait(driver, lambda d: len(text_of(d, ".entities td")) == 10)
    file = Path(driver.downloads) / "table.csv"
    driver.find_element(By.XPATH, "//button[text()='Save CSV']").click()
    wait(driver, lambda _: file.exists() and file.stat().st_size > 100)
    assert file.read_text("utf-8-sig").startswith("name,directed by,proof\nInsomnia,Christopher Nolan,")


def test_what_nothing_proves_has_no_drawing(page, depots):
    driver = page(depots, f"#/depots/ask?q={quote('Which employees do not work at a depot?')}")
    assert text_of(driver, ".proof p") == ["The graph records nothing against it."]
    assert driver.find_elements(By.CSS_SELECTOR, ".evidence") == []


def test_a_name_that_several_share_leads_to_each(page, depots):
    driver = page(depots, f"#/depots/browse?entity={quote('Anna Keller')}")
    assert text_of(driver, ".chips button") == ["Anna Keller (E01)", "Anna Keller (E08)"]
    driver.get_log("browser")  # that the name says too little
    driver.find_element(By.CSS_SELECTOR, ".chips button").click()
    wait(driver, lambda d: d.find_element(By.CSS_SELECTOR, ".result h2").text == "Anna Keller (E01)")


def test_all_edges_of_one_relation_point_to_one_side(page, films):
    driver = page(films, f"#/films/ask?q={quote('Which films were released after 2015?')}")
    drawn(driver)
    side = "Math.sign(Math.round(e.target().position('x') - e.source().position('x')))"
    sides = driver.execute_script(f"return {DRAWING}.edges().map(e => {side})")
    assert not {-1, 1} <= set(sides)


def test_the_vocabulary_is_searched(page, films):
    driver = page(films, "#/films/vocabulary")
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, "tbody tr")) > 10)
    driver.find_element(By.CSS_SELECTOR, ".question").send_keys("direct")
    assert text_of(driver, "tbody tr") == ["directed by relation directed_by"]


def test_an_answer_is_copied(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    wait(driver, lambda d: len(text_of(d, ".entities td")) == 10)
    for form, told in (
        ("JSON", '"question"'),
        ("CSV", "name,directed by,proof\r\nInsomnia,Christopher Nolan,"),
        ("Markdown", "| Insomnia |"),
    ):
        button = driver.find_element(By.CSS_SELECTOR, f"[data-copy={form}]")
        button.click()
        text = wait(driver, lambda d, button=button: button.get_attribute("data-text"))
        assert told in text
        assert "Inception" in text


def test_evidence_is_saved_with_all_names_and_labels(page, films):
    driver = page(films, f"#/films/ask?q={quote(ACTORS)}")
    drawn(driver)
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        file = Path(driver.downloads) / f"evidence.{kind.lower()}"
        driver.find_element(By.XPATH, f"//button[text()='{kind}']").click()
        wait(driver, lambda _, file=file: file.exists() and file.stat().st_size > 1000)
        assert file.read_bytes().startswith(start)
    texts = set(re.findall(r"<tspan[^>]*>([^<]*)</tspan>", file.read_text("utf-8")))
    assert texts >= {"Christopher Nolan", "Memento", "Guy Pearce", "directed by", "starring", "6 × person"}


def drawn_names(driver):
    script = f"return {DRAWING}.nodes().filter(n => !n.isParent()).map(n => n.data('label'))"
    return set(driver.execute_script(script))


def test_light_and_dark_are_switched(page, films):
    driver = page(films)
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = driver.execute_script(colour)
    driver.find_element(By.ID, "theme").click()
    assert driver.execute_script(colour) != before
    driver.refresh()
    wait(driver, lambda d: d.find_elements(By.ID, "question"))
    assert driver.execute_script(colour) != before
    driver.find_element(By.ID, "theme").click()


def test_a_narrow_screen_needs_no_scrolling_sideways(page, films):
    driver = page(films)
    metrics = {"width": 360, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        places = (
            f"ask?q={quote(SHARED)}",
            f"verify?q={quote('Christopher Nolan directed Jaws.')}",
            "browse?entity=Christopher%20Nolan",
            f"compare?q={quote('Who directed Memento?')}",
        )
        for place in places:
            page(films, f"#/films/{place}")
            wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".result .card"))
            width = driver.execute_script("return document.documentElement.scrollWidth")
            assert width <= 360, place
        box = driver.find_element(By.CSS_SELECTOR, ".wide")
        assert box.get_property("scrollWidth") <= box.get_property("clientWidth")
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_table_of_thousands_is_paged_and_sorted_at_once(page, running, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "many.tsv"
    source.write_text("".join(f"Item {i}\tmade_by\tAcme\n" for i in range(9_000)))
    driver = page(running({"many": source}), f"#/many/ask?q={quote('What is made by Acme?')}")
    assert text_of(driver, ".found h2", 60) == ["9,000 answers"]
    wait(driver, lambda d: "made by" in d.find_element(By.CSS_SELECTOR, ".entities thead").text)
    assert len(driver.find_elements(By.CSS_SELECTOR, ".row-name")) == 50
    for _ in range(2):
        driver.find_element(By.CSS_SELECTOR, ".sort").click()
        wait(driver, lambda d: not d.find_elements(By.CSS_SELECTOR, ".table[aria-busy]"))
    assert text_of(driver, ".row-name")[0] == "Item 999"


def focused(driver, told):
    """Whether the focus is, or soon is, on what is told."""
    return wait(driver, lambda d: told(d.switch_to.active_element))


def test_the_focus_goes_to_the_answer_when_what_was_pressed_is_gone(page, films):
    driver = page(films)
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".examples button"))[0].send_keys(Keys.ENTER)
    text_of(driver, ".found h2")
    assert focused(driver, lambda element: element.get_attribute("id") == "result")


def test_a_graph_is_chosen_by_keyboard(page, running, films_index):
    driver = page(running({"one": films_index, "two": films_index, "three": films_index}), "#/one/verify")
    chooser = driver.find_element(By.ID, "graph")
    for name in ("two", "three"):
        chooser.send_keys(Keys.ARROW_DOWN)
        wait(driver, lambda d, name=name: f"#/{name}/" in d.current_url)
        assert focused(driver, lambda element: element.get_attribute("id") == "graph")


def test_names_of_a_proof_lead_to_what_is_around_them(page, films):
    driver = page(films, f"#/films/ask?q={quote('Who directed Memento?')}")
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".proof a.node"))[1].send_keys(Keys.ENTER)
    assert text_of(driver, ".result h2") == ["Christopher Nolan"]
    assert driver.find_element(By.CSS_SELECTOR, ".question").get_attribute("value") == "Christopher Nolan"


def test_names_are_never_markup(page, evil):
    """Images that fail, addresses that are programs, marks of direction, orders to a terminal."""
    driver = page(evil, f"#/evil/ask?q={quote('Who does Mallory know?')}")
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".result .card"))
    for place in (
        "browse?entity=Mallory",
        "browse",
        f"verify?q={quote('Mallory knows Eve.')}",
        f"browse?entity={quote(EVIL[0])}",
    ):
        page(evil, f"#/evil/{place}")
        wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".result .card"))
        assert driver.execute_script("return window.hacked") is None
        inside = "#main img, #main script, #main [onerror], #main [onmouseover], #main a[href^='javascript']"
        assert driver.find_elements(By.CSS_SELECTOR, inside) == []
    page(evil, "#/evil/browse?entity=Mallory")
    names = text_of(driver, ".nodes bdi")
    assert '<img src=x onerror="window.hacked=1">' in names
    assert "\\u202egnp.exe\\u202c" in names
    assert "\\u001b[31mred\\u0007" in names
    assert driver.execute_script("return window.hacked") is None
    hebrew = next(e for e in driver.find_elements(By.CSS_SELECTOR, ".nodes bdi") if "שלום" in e.text)
    assert hebrew.value_of_css_property("direction") == "rtl"


def test_evil_names_stay_text_when_they_are_completed_and_drawn(page, evil):
    driver = page(evil, "#/evil/browse")
    driver.find_element(By.CSS_SELECTOR, ".question").send_keys("<img")
    offers = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".offers:not([hidden]) li bdi"))
    assert offers[0].text == EVIL[0]
    page(evil, "#/evil/browse?entity=Mallory")
    drawn(driver)
    assert driver.execute_script("return window.hacked") is None
    assert any(name.startswith("<img src=x onerror=") for name in drawn_names(driver))


def test_a_cell_that_a_spreadsheet_would_run_is_quoted(page, evil):
    driver = page(evil)
    table = "{columns: ['name'], rows: [['=HYPERLINK(1)'], ['@x'], ['-5']]}"
    module = f"import('./copy.js').then(m => arguments[arguments.length - 1](m.asCsv({table})))"
    assert driver.execute_async_script(module).split() == ["name", "'=HYPERLINK(1)", "'@x", "-5"]


def test_a_token_is_asked_for(page, running, films_index):
    from clew.serve.settings import Access

    server = running({"films": films_index}, access=Access(("s" * 20,)))
    driver = page(server)
    field = wait(driver, lambda d: d.find_element(By.CSS_SELECTOR, "input[type=password]"))
    driver.get_log("browser")  # that the first request was refused
    field.send_keys("s" * 20, Keys.ENTER)
    wait(driver, lambda d: d.find_elements(By.ID, "question"))
    driver.find_element(By.ID, "question").send_keys("Who directed Memento?", Keys.ENTER)
    assert text_of(driver, ".found h2") == ["Christopher Nolan"]


def test_the_api_page_sends_its_examples(page, films):
    driver = page(films, "docs.html")
    sections = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, "#operations section"))
    ask = next(s for s in sections if "Ask a question" in s.text)
    ask.find_element(By.CSS_SELECTOR, "button.main").click()
    reply = wait(driver, lambda d: ask.find_element(By.CSS_SELECTOR, "pre").text)
    assert reply.startswith("200")
    assert "Insomnia" in reply


AXE = Path(__file__).parents[1] / "data/axe/axe.min.js"
PLACES = (
    "", f"#/films/ask?q={quote(SHARED)}",
    "#/films/ask?q=Who+directed+Memento%3F&q2=And+Heat%3F&q3=Who+painted+it%3F",
    f"#/films/verify?q={quote('Christopher Nolan directed Memento and Jaws.')}",
    f"#/films/compare?q={quote('Who directed Memento?')}",
    "#/films/browse?entity=Memento", f"#/films/query?q={quote('{Christopher Nolan} ^directed_by')}",
    "#/films/vocabulary", "docs.html",
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_axe_finds_no_violation(page, films, place):
    driver = page(films, place)
    wait(driver, lambda d: not d.find_elements(By.CSS_SELECTOR, "[aria-busy]"))
    assert violations(driver) == {}


def test_axe_finds_no_violation_in_what_opens(page, films):
    driver = page(films, "#/films/browse?type=film")
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".columns summary"))[0].click()
    driver.find_element(By.CSS_SELECTOR, "[aria-label='Values of release year']").click()
    wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".bars button"))
    assert violations(driver) == {}


def violations(driver):
    """What axe finds in the light on a wide screen, and in the dark on a narrow one."""
    driver.execute_script(AXE.read_text("utf-8"))
    run = "axe.run().then(r => arguments[arguments.length - 1](r.violations))"
    found = {}
    try:
        for scheme, width in (("light", 1280), ("dark", 360)):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            for one in driver.execute_async_script(run):
                nodes = [node["html"][:100] for node in one["nodes"][:3]]
                found[f"{scheme} {width}: {one['id']}"] = nodes
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return found
