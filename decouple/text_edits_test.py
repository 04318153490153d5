"""Tests of replacing pieces of a text."""

from __future__ import annotations

import random

from absl.testing import absltest

from decouple import text_edits
from decouple.text_edits import Edit


def _random_text(source: random.Random) -> str:
    return "".join(source.choice("ab\n") for _ in range(source.randrange(40)))


def _random_edits(source: random.Random, text: str) -> list[Edit]:
    places = sorted(source.choices(range(len(text) + 1), k=2 * source.randrange(4)))
    pairs = zip(places[::2], places[1::2], strict=True)
    edits = [Edit(start, end, _random_text(source)[:5]) for start, end in pairs]
    return [
        edit
        for number, edit in enumerate(edits)
        if number == 0 or edit.start > edits[number - 1].end
    ]


class EditsTest(absltest.TestCase):
    def test_edits_are_made_at_their_places(self) -> None:
        self.assertEqual(
            text_edits.apply_edits("one two three", [Edit(4, 7, "2"), Edit(0, 3)]), " 2 three"
        )

    def test_overlapping_edits_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            text_edits.apply_edits("abcdef", [Edit(0, 3), Edit(2, 4)])

    def test_reverse_edits_give_the_text_back(self) -> None:
        source = random.Random(1)
        for _ in range(500):
            text = _random_text(source)
            edits = _random_edits(source, text)
            changed = text_edits.apply_edits(text, edits)
            back = text_edits.reverse_edits(text, edits)
            self.assertEqual(text_edits.apply_edits(changed, back), text)


if __name__ == "__main__":
    absltest.main()
