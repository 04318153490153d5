"""The pictures of docs/ are what their sources say, and arrows in them lead from box to box."""

from __future__ import annotations

import pathlib
import tomllib
from typing import Any
from xml.etree import ElementTree

from absl.testing import absltest

from docs.pictures import draw

_HERE = pathlib.Path(__file__).parent
_SVG = "{http://www.w3.org/2000/svg}"


def _box(name: str, row: int, column: int) -> dict[str, Any]:
    return {"id": name, "row": row, "column": column, "span": 1, "title": name, "note": "a < b"}


class DrawTest(absltest.TestCase):
    def test_pictures_are_up_to_date(self) -> None:
        sources = sorted(_HERE.glob("*.toml"))
        self.assertNotEmpty(sources)
        for source in sources:
            picture = tomllib.loads(source.read_text(encoding="utf-8"))
            drawn = source.with_suffix(".svg").read_text(encoding="utf-8")
            self.assertEqual(draw.render(picture), drawn, "./bazelw run //docs/pictures:update")

    def test_every_box_and_arrow_is_drawn_once_within_the_picture(self) -> None:
        boxes = [_box("a", 0, 0), _box("b", 1, 0), _box("c", 1, 1)]
        arrow = {"from": "a", "to": "b"}
        root = ElementTree.fromstring(draw.render({"columns": 2, "box": boxes, "arrow": [arrow]}))
        rectangles = root.findall(f"{_SVG}rect")
        self.assertLen(rectangles, 3)
        self.assertLen(root.findall(f"{_SVG}path"), 2)
        texts = [text.text for text in root.findall(f"{_SVG}text")]
        self.assertEqual(texts, ["a", "a < b", "b", "a < b", "c", "a < b"])
        for edge, place in (("width", "x"), ("height", "y")):
            for box in rectangles:
                self.assertLess(
                    int(box.attrib[place]) + int(box.attrib[edge]), int(root.attrib[edge])
                )

    def test_an_arrow_that_leads_sideways_or_up_is_refused(self) -> None:
        boxes = [_box("a", 0, 0), _box("b", 1, 0), _box("c", 1, 1)]
        for start, end in (("a", "c"), ("b", "a"), ("b", "c")):
            picture = {"columns": 2, "box": boxes, "arrow": [{"from": start, "to": end}]}
            with self.assertRaisesRegex(ValueError, "straight down"):
                draw.render(picture)

    def test_an_arrow_to_no_box_and_two_boxes_of_one_name_are_refused(self) -> None:
        picture = {"columns": 1, "box": [_box("a", 0, 0)], "arrow": [{"from": "a", "to": "z"}]}
        with self.assertRaises(KeyError):
            draw.render(picture)
        with self.assertRaisesRegex(ValueError, "two boxes"):
            draw.boxes({"box": [_box("a", 0, 0), _box("a", 1, 0)]})


if __name__ == "__main__":
    absltest.main()
