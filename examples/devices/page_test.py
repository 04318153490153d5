"""The page in a real browser, Chromium, while programs run; a picture of it is among the test's outputs."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import threading
import time

from absl.testing import absltest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from examples.devices import targets
from examples.devices.runs import Runs
from examples.devices.serve import Server

_TRAIN = pathlib.Path(targets.__file__).with_name("train.py")
_DEADLINE = 240.0
_STATUSES = """
return [...document.querySelectorAll("section")].map(s => [s.dataset.device, s.dataset.status]);
"""


def _browser(folder: pathlib.Path) -> webdriver.Chrome:
    options = Options()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,1100",
        f"--user-data-dir={folder / 'profile'}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = shutil.which("chromedriver") or "chromedriver"
    service = Service(driver, env={**os.environ, "HOME": str(folder)})
    return webdriver.Chrome(service=service, options=options)


class PageTest(absltest.TestCase):
    def test_devices_are_shown_side_by_side_until_they_are_done(self) -> None:
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        runs = Runs([str(_TRAIN), "--steps", "6"], targets.find([]), at_once=2)
        self.addCleanup(runs.stop)
        with Server(0, runs.snapshot) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            browser = _browser(folder)
            self.addCleanup(browser.quit)
            browser.get(server.address)
            runs.start()
            until = time.monotonic() + _DEADLINE
            while True:
                shown = dict(browser.execute_script(_STATUSES))
                self.assertNotIn("failed", shown.values(), browser.page_source)
                if shown and set(shown.values()) == {"done"}:
                    break
                self.assertLess(time.monotonic(), until, str(runs.snapshot())[:2000])
                time.sleep(0.5)
            outputs = pathlib.Path(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", folder))
            browser.save_screenshot(str(outputs / "page.png"))
            for name, mark in {"fake": "digit for digit", "sim": "from the CPU's losses"}.items():
                section = browser.find_element(By.CSS_SELECTOR, f"section[data-device={name}]")
                self.assertRegex(section.text, f"{mark}|digit for digit")
                self.assertGreater(
                    section.find_element(By.CSS_SELECTOR, ".loss").size["height"], 30
                )
                rows = section.find_elements(By.CSS_SELECTOR, ".operators tr")
                self.assertGreater(len(rows), 5)
            sections = browser.find_elements(By.CSS_SELECTOR, "section")
            tops = {section.rect["y"] for section in sections}
            self.assertLess(len(tops), len(sections))  # side by side
            streams = browser.find_elements(By.CSS_SELECTOR, "[data-device=sim] .on-device")
            self.assertNotEmpty(streams)
            problems = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
            self.assertEmpty([entry for entry in problems if "favicon" not in entry["message"]])


if __name__ == "__main__":
    absltest.main()
