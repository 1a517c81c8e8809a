"""The page in a real browser: headless Chromium, driven by Selenium."""

import json
import re
import shutil
import time
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
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)
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
    assert text_of(driver, ".row .answer-name")[:2] == ["Insomnia", "Batman Begins"]
    assert text_of(driver, ".proof .triple") == [
        "Memento ─directed by→ Christopher Nolan",
        "Insomnia ─directed by→ Christopher Nolan",
    ]
    drawn(driver)
    assert "q=Which+films" in driver.current_url


def test_a_link_keeps_what_was_asked(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    assert text_of(driver, ".found h2") == ["10 answers"]
    assert driver.find_element(By.ID, "question").get_attribute("value") == SHARED
    driver.find_element(By.LINK_TEXT, "Explore").click()
    text_of(driver, ".result h2")
    driver.back()
    assert text_of(driver, ".found h2") == ["10 answers"]


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


def test_a_misspelt_name_is_offered(page, films):
    driver = page(films)
    driver.find_element(By.ID, "question").send_keys("Who directed Mementp")
    offers = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".offers:not([hidden]) li"))
    assert offers[0].text.startswith("Memento")


def test_examples_are_of_this_graph_and_can_be_clicked(page, films):
    driver = page(films)
    chip = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".examples button"))[0]
    question = chip.text
    chip.click()
    text_of(driver, ".found h2")
    assert driver.find_element(By.ID, "question").get_attribute("value") == question


def test_another_answer_is_chosen_by_keyboard(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    box = wait(driver, lambda d: d.find_element(By.CSS_SELECTOR, ".long-list"))
    box.send_keys(Keys.ARROW_DOWN)
    assert text_of(driver, ".proof h3") == ["Proof of Batman Begins"]
    box.send_keys(Keys.END)
    assert text_of(driver, ".proof h3") == ["Proof of Oppenheimer"]


def test_how_it_was_read_is_told(page, films):
    driver = page(films, f"#/films/ask?q={quote('Who directed Mementp?')}")
    assert any(
        "Mementp" in text and "Memento" in text and "typo" in text for text in text_of(driver, ".mention")
    )
    assert text_of(driver, ".read .triple") == ["Memento ─directed by→ what is asked"]


def test_only_names_that_the_answer_rests_on_are_told(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    assert text_of(driver, ".mention") == ["Memento exact"]


def test_subgraphs_are_shown_with_their_distances(page, running, films_index):
    pattern = {
        "divided": ["who directed Memento"],
        "triples": [["Memento", "directed by", "UNKNOWN person 1"]],
    }
    said = iter((json.dumps(pattern), '{"reason": "as shown", "answers": ["Christopher Nolan"]}'))
    server = running({"films": films_index}, models={"m": ScriptedModel(lambda _: next(said))})
    driver = page(server, f"#/films/ask?q={quote('Who directed Memento?')}&method=simgrag&model=m")
    assert text_of(driver, ".subgraphs td")[:2] == ["0.000", "Memento ─directed by→ Christopher Nolan"]


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
    assert text_of(driver, ".abstained h2") == ["No answer in this graph"]
    chips = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".recorded button"))
    next(chip for chip in chips if chip.text.startswith("release year")).click()
    assert text_of(driver, ".found h2") == ["2000"]


def test_a_node_opens_its_neighbourhood(page, films):
    driver = page(films, f"#/films/ask?q={quote('Who directed Memento?')}")
    drawn(driver)
    canvas = driver.find_element(By.CSS_SELECTOR, ".canvas")
    # Two nodes in a row: the answer is on the right.
    from selenium.webdriver.common.action_chains import ActionChains

    for share in (0.2, 0.25, 0.28, 0.3, 0.33):
        offset = int(canvas.size["width"] * share)
        ActionChains(driver).move_to_element_with_offset(canvas, offset, 0).click().perform()
        if "more are drawn" in driver.find_element(By.CSS_SELECTOR, ".told").text:
            break
        time.sleep(0.5)
    told = driver.find_element(By.CSS_SELECTOR, ".told").text
    assert "triples" in told
    assert "Ask about it" in told


def test_a_claim_is_coloured(page, films):
    driver = page(films, f"#/films/verify?q={quote('Christopher Nolan directed Memento and Jaws.')}")
    assert text_of(driver, ".verdict") == ["✗ Refuted"]
    parts = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".part"))
    assert [part.get_attribute("class") for part in parts] == ["part supported", "part refuted"]
    drawn(driver)


def test_methods_are_seen_side_by_side(page, films):
    driver = page(
        films, f"#/films/compare?q={quote('Who directed Memento?')}&methods=auto,kg-retrieval,simgrag"
    )
    assert text_of(driver, ".compared tbody th") == ["auto", "simgrag", "kg-retrieval"]
    assert text_of(driver, ".compared .chip") == ["Christopher Nolan", "Christopher Nolan"]
    driver.find_element(By.LINK_TEXT, "kg-retrieval").click()
    assert text_of(driver, ".found h2") == ["Christopher Nolan"]
    assert "kg-retrieval" in text_of(driver, ".figures")[0]


def test_a_method_that_has_no_answer_says_why_in_words(page, films):
    driver = page(films, f"#/films/compare?q={quote('What is the budget of Memento?')}&methods=auto")
    (said,) = text_of(driver, ".compared .said")
    assert said.startswith("No answer. The graph has no relation like the words of the question. It has")


def test_a_graph_is_explored(page, films):
    driver = page(films, "#/films/explore")
    assert text_of(driver, ".row .answer-name")[0] == "starring"
    drawn(driver)
    driver.find_element(By.CSS_SELECTOR, ".question").send_keys("Christopher Nolan", Keys.ENTER)
    wait(driver, lambda d: "Christopher Nolan" in d.find_element(By.CSS_SELECTOR, ".result h2").text)
    more = wait(
        driver, lambda d: [b for b in d.find_elements(By.CSS_SELECTOR, "button.link") if b.is_displayed()]
    )
    count = len(driver.find_elements(By.CSS_SELECTOR, ".group .chips button"))
    more[0].click()
    wait(driver, lambda d: len(d.find_elements(By.CSS_SELECTOR, ".group .chips button")) > count)


@pytest.mark.parametrize(
    ("form", "told"), [("JSON", '"question"'), ("CSV", "answer,label,score"), ("Markdown", "- **")]
)
def test_an_answer_is_copied(page, films, form, told):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    button = wait(driver, lambda d: d.find_element(By.CSS_SELECTOR, f"[data-copy={form}]"))
    button.click()
    text = wait(driver, lambda d: button.get_attribute("data-text"))
    assert told in text
    assert "Inception" in text


def test_evidence_is_saved(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    drawn(driver)
    assert saved(driver, "PNG").startswith(b"\x89PNG")
    assert {"Memento", "Christopher Nolan", "Inception"} <= saved_names(driver)


def saved(driver, kind):
    """The drawing as the page saves it."""
    file = Path(driver.downloads) / f"evidence.{kind.lower()}"
    file.unlink(missing_ok=True)
    wait(driver, lambda d: d.find_element(By.XPATH, f"//button[text()='{kind}']")).click()
    wait(driver, lambda _: file.exists() and file.stat().st_size > 1000)
    return file.read_bytes()


def saved_names(driver):
    from xml.etree import ElementTree as Xml

    drawing = Xml.fromstring(saved(driver, "SVG"))  # noqa: S314 (made here)
    return {node.text for node in drawing.iter() if node.tag.endswith("text")}


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
            "explore?entity=Christopher%20Nolan",
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


def test_a_list_of_thousands_is_a_few_rows(page, running, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "many.tsv"
    source.write_text("".join(f"Item {i}\tmade_by\tAcme\n" for i in range(9_000)))
    driver = page(running({"many": source}), f"#/many/ask?q={quote('What is made by Acme?')}")
    assert text_of(driver, ".found h2", 60) == ["9,000 answers"]
    assert len(driver.find_elements(By.CSS_SELECTOR, ".row")) < 60
    box = driver.find_element(By.CSS_SELECTOR, ".long-list")
    box.send_keys(Keys.END)
    rows = wait(driver, lambda d: [r for r in d.find_elements(By.CSS_SELECTOR, ".row.chosen") if r.text])
    assert rows[0].get_attribute("aria-posinset") == "9000"
    assert "Item 8999" in saved_names(driver)


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
        "explore?entity=Mallory",
        "explore",
        f"verify?q={quote('Mallory knows Eve.')}",
        f"explore?entity={quote(EVIL[0])}",
    ):
        page(evil, f"#/evil/{place}")
        wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".result .card"))
        assert driver.execute_script("return window.hacked") is None
        inside = "#main img, #main script, #main [onerror], #main [onmouseover], #main a[href^='javascript']"
        assert driver.find_elements(By.CSS_SELECTOR, inside) == []
    page(evil, "#/evil/explore?entity=Mallory")
    names = text_of(driver, ".group .chips bdi")
    assert '<img src=x onerror="window.hacked=1">' in names
    assert "\\u202egnp.exe\\u202c" in names
    assert "\\u001b[31mred\\u0007" in names
    assert driver.execute_script("return window.hacked") is None
    hebrew = next(e for e in driver.find_elements(By.CSS_SELECTOR, ".group .chips bdi") if "שלום" in e.text)
    assert hebrew.value_of_css_property("direction") == "rtl"


def test_evil_names_stay_text_when_they_are_completed_and_drawn(page, evil):
    driver = page(evil, "#/evil/explore")
    driver.find_element(By.CSS_SELECTOR, ".question").send_keys("<img")
    offers = wait(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".offers:not([hidden]) li bdi"))
    assert offers[0].text == EVIL[0]
    page(evil, "#/evil/explore?entity=Mallory")
    drawn(driver)
    text = saved(driver, "SVG").decode()
    assert "<img" not in text
    assert "<script" not in text
    assert "&lt;img" in text


def test_a_cell_that_a_spreadsheet_would_run_is_quoted(page, evil):
    driver = page(evil)
    answer = "{question: 'q', citations: [], answers: [{entity: '=HYPERLINK(1)', label: '@x', score: 1}]}"
    module = f"import('./copy.js').then(m => arguments[arguments.length - 1](m.asCsv({answer})))"
    assert "'=HYPERLINK" in driver.execute_async_script(module)


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
    "",
    f"#/films/ask?q={quote(SHARED)}",
    f"#/films/ask?q={quote('Who painted Memento?')}",
    f"#/films/verify?q={quote('Christopher Nolan directed Memento and Jaws.')}",
    f"#/films/compare?q={quote('Who directed Memento?')}",
    "#/films/explore",
    "#/films/explore?entity=Memento",
    "docs.html",
)


@pytest.mark.parametrize("place", PLACES)
def test_axe_finds_no_violation(page, films, place):
    driver = page(films, place)
    wait(driver, lambda d: not d.find_elements(By.CSS_SELECTOR, "[aria-busy]"))
    driver.execute_script(AXE.read_text("utf-8"))
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        run = "axe.run().then(r => arguments[arguments.length - 1](r.violations))"
        found = {
            one["id"]: [node["html"][:100] for node in one["nodes"][:3]]
            for one in driver.execute_async_script(run)
        }
        assert found == {}, f"{scheme}: {json.dumps(found, indent=1)}"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_nothing_is_asked_of_another_server(page, films):
    driver = page(films, f"#/films/ask?q={quote(SHARED)}")
    drawn(driver)
    asked = driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert asked
    assert all(re.match(re.escape(films.url), name) for name in asked)
