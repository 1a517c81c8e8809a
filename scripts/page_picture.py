"""Make docs/page.png: the page of `clew serve` with a question and its evidence, in headless Chromium.

python scripts/page_picture.py            needs chromium, chromedriver and selenium
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[1]
PORT = 8799
QUESTION = "Which films share a director with Memento?"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1280,940")


def main() -> None:
    """Serve the example, ask, and save the picture."""
    command = [sys.executable, "-m", "clew", "serve", "examples/films.tsv", "--port", str(PORT), "--quiet"]
    server = subprocess.Popen(command, cwd=ROOT)
    try:
        wait_for_server()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        with tempfile.TemporaryDirectory() as profile:
            for flag in (*FLAGS, f"--user-data-dir={profile}"):
                options.add_argument(flag)
            driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver") or ""))
            take(driver)
            driver.quit()
    finally:
        server.terminate()
        server.wait()


def wait_for_server() -> None:
    """Wait until it answers."""
    for _ in range(200):
        try:
            with urlopen(f"http://127.0.0.1:{PORT}/readyz"):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


def take(driver: webdriver.Chrome) -> None:
    """Ask the question twice, the second time without what is loaded once, and keep the picture."""
    for _ in range(2):
        driver.get("about:blank")
        driver.get(f"http://127.0.0.1:{PORT}/#/films/ask?q={quote(QUESTION)}")
        WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".evidence[data-drawn]"))
    time.sleep(0.5)
    driver.save_screenshot(str(ROOT / "docs" / "page.png"))


if __name__ == "__main__":
    main()
