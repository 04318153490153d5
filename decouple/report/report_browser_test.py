"""The page in a real browser: Chromium, without a network.

Argument: the file that says who owns what.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
from typing import Any

from absl.testing import absltest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from decouple import scan, testing
from decouple.gaps import Gaps
from decouple.plan import owners
from decouple.plan.plan import make_plan
from decouple.report.data import page_data
from decouple.report.page import render
from decouple.rules.load import load

OWNERS = owners.read(pathlib.Path(sys.argv.pop(1)))

# The runtime includes the bindings: an arrow that points up. A script's end in a source must not end the page's.
_FILES = {
    "c10/cuda/Stream.h": "#pragma once\n#include <torch/csrc/cuda/Bind.h>\nint stream();\n",
    "torch/csrc/cuda/Bind.h": "#pragma once\n",
    "torch/csrc/cuda/Bind.cpp": "#include <torch/csrc/cuda/Bind.h>\n#include <c10/cuda/Stream.h>\n",
    "torch/csrc/engine.cpp": testing.MINIMAL["torch/csrc/engine.cpp"]
    + 'bool f(X x) { return x.is_cuda() || "</script>"; }\n',
    "build_variables.bzl": 'core = ["torch/csrc/engine.cpp"]\n'
    'things_cuda = ["torch/csrc/fast.cpp", "torch/csrc/cuda/Bind.cpp"]\n'
    "lost = nowhere()\n",
}


class PageTest(absltest.TestCase):
    driver: webdriver.Chrome
    folder: pathlib.Path
    data: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        tree = testing.make_tree(cls.folder / "tree", _FILES, Gaps())
        inventory = scan.scan(tree, load("cuda"), jobs=1)
        cls.data = page_data(tree, inventory, make_plan(inventory, OWNERS))
        page = cls.folder / "page.html"
        page.write_text(render(cls.data), encoding="utf-8")
        options = Options()
        options.binary_location = shutil.which("chromium") or "chromium"
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1200,1600",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={cls.folder / 'profile'}",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = shutil.which("chromedriver") or "chromedriver"
        environment = {**os.environ, "HOME": str(cls.folder)}
        cls.driver = webdriver.Chrome(service=Service(driver, env=environment), options=options)
        cls.driver.get(page.as_uri())

    @classmethod
    def tearDownClass(cls) -> None:
        cls.driver.quit()
        shutil.rmtree(cls.folder, ignore_errors=True)
        super().tearDownClass()

    def setUp(self) -> None:
        super().setUp()
        self._one("button[type=reset]").click()
        self._wait()

    def _one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def _all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def _wait(self) -> None:
        """Filters are applied a moment after the last key."""
        time.sleep(0.3)

    def _places(self) -> list[str]:
        return [site.text for site in self._all(".site .place")]

    def test_nothing_goes_wrong_in_the_browser(self) -> None:
        self.assertEmpty(
            [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        )

    def test_the_page_loads_nothing(self) -> None:
        loaded = self.driver.execute_script(
            "return performance.getEntriesByType('resource').map((entry) => entry.name)"
        )
        self.assertEmpty(loaded)

    def test_the_head_names_device_version_and_counts(self) -> None:
        self.assertEqual(self._one("h1").text, "CUDA code of PyTorch 2.6.0")
        self.assertIn(f"{self.data['units']} translation units", self._one("#summary").text)

    def test_what_could_not_be_read_is_shown(self) -> None:
        self.assertIn("could not be read: 1 place", self._one("#summary").text)
        (place,) = self._all("#gaps li")
        self.assertStartsWith(place.text, "build_variables.bzl:3: fails: NameError")

    def test_the_treemap_has_a_block_for_each_file(self) -> None:
        drawn = {block.get_attribute("data-path") for block in self._all("#treemap rect.file")}
        self.assertEqual(drawn, {block["path"] for block in self.data["blocks"]})

    def test_blocks_are_as_large_as_their_lines(self) -> None:
        lines = {block["path"]: block["lines"] for block in self.data["blocks"]}
        chosen = [
            block
            for block in self._all("#treemap rect.file")
            if block.get_attribute("data-path") in ("c10/cuda/Stream.h", "c10/cuda/Stream.cpp")
        ]
        areas = {
            str(block.get_attribute("data-path")): float(block.get_attribute("width") or 0)
            * float(block.get_attribute("height") or 0)
            for block in chosen
        }
        ratio = areas["c10/cuda/Stream.h"] / areas["c10/cuda/Stream.cpp"]
        self.assertAlmostEqual(
            ratio, lines["c10/cuda/Stream.h"] / lines["c10/cuda/Stream.cpp"], places=2
        )

    def test_the_arrow_that_points_up_is_red_and_says_why(self) -> None:
        (arrow,) = self._all("#graph path.up")
        self.assertEqual(arrow.get_attribute("data-from"), "c10_cuda")
        self.assertEqual(arrow.value_of_css_property("stroke"), "rgb(221, 17, 17)")
        self.driver.execute_script(
            "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", arrow
        )
        details = self._one("#arrow-details").text
        self.assertIn("pointing up", details)
        self.assertIn("c10/cuda/Stream.h includes torch/csrc/cuda/Bind.h", details)

    def test_arrows_that_point_down_are_not_red(self) -> None:
        down = [
            arrow
            for arrow in self._all("#graph path.arrow")
            if "up" not in (arrow.get_attribute("class") or "")
        ]
        self.assertNotEmpty(down)
        for arrow in down:
            self.assertNotEqual(arrow.value_of_css_property("stroke"), "rgb(221, 17, 17)")

    def test_sites_show_their_code_and_function(self) -> None:
        self.assertLen(self._places(), len(self.data["sites"]))
        site = next(s for s in self._all(".site") if "engine.cpp:5" in s.text)
        self.assertIn("return stream();", site.text)
        self.assertIn("cuda-guard", site.text)

    def test_search_finds_code(self) -> None:
        self._one("#search").send_keys("is_cuda")
        self._wait()
        self.assertEqual(self._places(), ["torch/csrc/engine.cpp:11"])
        self.assertStartsWith(self._one("#sites-count").text, "1 of ")

    def test_filters_narrow_treemap_and_sites(self) -> None:
        self._one("#rule").send_keys("cuda-guard")
        self._wait()
        self.assertEqual(
            {block.get_attribute("data-path") for block in self._all("#treemap rect.file")},
            {"torch/csrc/engine.cpp"},
        )
        self.assertEqual(self._places(), ["torch/csrc/engine.cpp:1", "torch/csrc/engine.cpp:5"])

    def test_a_click_on_a_module_shows_it_alone(self) -> None:
        label = self._one('#treemap text[data-module="c10_cuda"]')
        self.driver.execute_script(
            "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", label
        )
        drawn = {block.get_attribute("data-path") for block in self._all("#treemap rect.file")}
        self.assertContainsSubset({"c10/cuda/Stream.h", "c10/cuda/Stream.cpp"}, drawn)
        modules = {block["path"]: block["module"] for block in self.data["blocks"]}
        self.assertEqual({modules[str(path)] for path in drawn}, {"c10_cuda"})

    def test_text_of_sources_cannot_end_the_page(self) -> None:
        text = self.driver.execute_script("return document.getElementById('data').textContent")
        self.assertEqual(json.loads(text)["sites"], self.data["sites"])


if __name__ == "__main__":
    absltest.main()
