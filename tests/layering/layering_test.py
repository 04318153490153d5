"""Fails when an arrow of the real dependency graph points up.

    layering_test.py GRAPH SMALL_GRAPH

SMALL_GRAPH is that of :lower, which depends on :upper.
"""

from __future__ import annotations

import pathlib
import sys

from absl.testing import absltest

from tests.layering import layers

SMALL_GRAPH = pathlib.Path(sys.argv.pop(2))
GRAPH = pathlib.Path(sys.argv.pop(1))


class LayeringTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.edges = layers.parse_graph(GRAPH.read_text(encoding="utf-8"))

    def test_arrows_point_down_only(self) -> None:
        violations = layers.violations(self.edges)
        self.assertEqual([str(violation) for violation in violations], [])

    def test_graph_reaches_from_the_wheel_to_c10_cuda(self) -> None:
        packages = {layers.package_of(label) for edge in self.edges for label in edge}
        found = {layers.layer_of(package) for package in packages if package is not None}
        self.assertContainsSubset(set(layers.LAYERS), found)

    def test_graph_has_the_arrows_of_the_build(self) -> None:
        edges = layers.parse_graph(SMALL_GRAPH.read_text(encoding="utf-8"))
        self.assertIn(("@@//tests/layering:lower", "@@//tests/layering:upper"), edges)


if __name__ == "__main__":
    absltest.main()
