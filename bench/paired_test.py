"""Tests of paired.py on readings that are known."""

from __future__ import annotations

import itertools

from absl.testing import absltest

from bench import paired


class InterleaveTest(absltest.TestCase):
    def test_order_alternates_and_the_first_pair_is_dropped(self) -> None:
        calls: list[str] = []
        clock = itertools.count()

        def reading(name: str) -> float:
            calls.append(name)
            return float(next(clock))

        pairs = paired.interleave(lambda: reading("a"), lambda: reading("b"), pairs=2)
        self.assertEqual(calls, ["b", "a", "a", "b", "b", "a"])
        self.assertEqual(pairs, [(2.0, 3.0), (5.0, 4.0)])


class RatiosTest(absltest.TestCase):
    def test_median_and_quartiles(self) -> None:
        found = paired.ratios([(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (8.0, 2.0), (50.0, 10.0)])
        self.assertEqual((found.lower, found.median, found.upper), (2.0, 3.0, 4.0))
        self.assertEqual(str(found), "3.000 (quartiles 2.000 to 4.000, 5 pairs)")

    def test_machine_that_slows_down_does_not_change_the_ratio(self) -> None:
        readings = [(1.2 * speed, 1.0 * speed) for speed in (1.0, 2.0, 4.0, 8.0)]
        self.assertAlmostEqual(paired.ratios(readings).median, 1.2)

    def test_one_pair_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "at least 2"):
            paired.ratios([(1.0, 1.0)])


if __name__ == "__main__":
    absltest.main()
