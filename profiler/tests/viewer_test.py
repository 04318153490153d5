"""A trace as a person sees it: drawn in Chromium, streams side by side, arrows from calls to kernels.

The picture is among the test's outputs (trace.png).
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from typing import ClassVar

import torch
from absl.testing import absltest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from torch.profiler import record_function

from profiler.tests.traces import Trace, traced

_PAGE = pathlib.Path(__file__).parent / "viewer.html"


def _two_streams() -> Trace:
    streams = [torch.cuda.Stream() for _ in range(2)]
    x = [torch.randn(1 << 20, device="cuda") for _ in streams]
    x[0].sin(), x[0].cos()
    with traced() as traces, record_function("two streams"):
        for stream, values in zip(streams, x, strict=True):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                values.sin()
                values.cos()
    return traces[0]


class Box:
    """Where something is drawn, in pixels."""

    def __init__(self, element: WebElement) -> None:
        rect = element.rect
        self.left, self.top = rect["x"], rect["y"]
        self.right, self.bottom = self.left + rect["width"], self.top + rect["height"]


class ViewerTest(absltest.TestCase):
    driver: ClassVar[webdriver.Chrome]
    folder: ClassVar[pathlib.Path]
    trace: ClassVar[Trace]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.trace = _two_streams()
        page = cls.folder / "page.html"
        text = json.dumps(cls.trace.json).replace("<", "\\u003c")
        page.write_text(_PAGE.read_text(encoding="utf-8").replace("TRACE", text), encoding="utf-8")
        options = Options()
        options.binary_location = shutil.which("chromium") or "chromium"
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1440,600",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={cls.folder / 'profile'}",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = shutil.which("chromedriver") or "chromedriver"
        environment = {**os.environ, "HOME": str(cls.folder)}
        cls.driver = webdriver.Chrome(service=Service(driver, env=environment), options=options)
        cls.driver.get(page.as_uri())
        outputs = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if outputs:
            cls.driver.save_screenshot(str(pathlib.Path(outputs) / "trace.png"))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.driver.quit()
        shutil.rmtree(cls.folder, ignore_errors=True)
        super().tearDownClass()

    def _all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def _kernels_by_row(self) -> list[list[Box]]:
        rows = [
            [Box(kernel) for kernel in row.find_elements(By.CSS_SELECTOR, "[data-category=kernel]")]
            for row in self._all("g[data-row]")
        ]
        return [row for row in rows if row]

    def test_nothing_goes_wrong_in_the_browser(self) -> None:
        self.assertEmpty(
            [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        )

    def test_every_kernel_is_drawn(self) -> None:
        names = sorted(
            str(kernel.get_attribute("data-name")) for kernel in self._all("[data-category=kernel]")
        )
        self.assertEqual(names, sorted(kernel.name for kernel in self.trace.kernels))
        self.assertLen(names, 4)

    def test_streams_lie_below_each_other_and_overlap_in_time(self) -> None:
        one, other = self._kernels_by_row()
        self.assertLess(max(box.bottom for box in one), min(box.top for box in other))
        self.assertTrue(any(a.left < b.right and b.left < a.right for a in one for b in other))

    def test_rows_have_the_names_of_streams(self) -> None:
        labels = [label.text for label in self._all(".row-label")]
        self.assertLen([label for label in labels if label.startswith("stream ")], 2)
        self.assertTrue(any(label.startswith("thread ") for label in labels), labels)

    def test_arrows_lead_from_calls_to_kernels(self) -> None:
        arrows = self._all("path.arrow")
        self.assertLen(arrows, 4)
        drawing = Box(self._all("#drawing")[0])
        calls = [
            Box(call)
            for call in self._all("[data-category=cuda_runtime][data-name=cudaLaunchKernel]")
        ]
        kernels = [box for row in self._kernels_by_row() for box in row]

        def hit(x: float, y: float, boxes: list[Box]) -> list[Box]:
            return [
                box
                for box in boxes
                if box.left - 1 <= drawing.left + x <= box.right + 1
                and box.top - 1 <= drawing.top + y <= box.bottom + 1
            ]

        reached = []
        for arrow in arrows:
            x1, y1, x2, y2 = (
                float(arrow.get_attribute(f"data-{n}") or 0) for n in ("x1", "y1", "x2", "y2")
            )
            self.assertNotEmpty(hit(x1, y1, calls))
            reached += hit(x2, y2, kernels)
            self.assertLess(y1, y2)
        self.assertLen({(box.left, box.top) for box in reached}, 4)


if __name__ == "__main__":
    absltest.main()
