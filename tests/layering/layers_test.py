"""Tests of layers.py on made-up graphs: every kind of wrong arrow is reported."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from tests.layering import layers

GRAPH = """digraph mygraph {
  node [shape=box];
  "//python:torch_cuda_wheel"
  "//python:torch_cuda_wheel" -> "//python/csrc:_CUDAC.so"
  "//python:torch_cuda_wheel" -> "//framework:libtorch_cuda.so"
  "//python/csrc:_CUDAC.so" -> "//framework:framework"
  "//framework:framework" -> "//framework/jit:jit"
  "//framework:framework" -> "@pytorch//:torch/csrc/cuda/comm.cpp"
  "//framework/jit:jit" -> "//aten_cuda/core:core"
  "//aten_cuda/core:core" -> "//c10_cuda:c10_cuda"
  "//aten_cuda/core:core" -> "//config:cuda_archs"
  "//config:ops" -> "//aten_cuda/profiles:core"
  "//python:torch_cuda_wheel" -> "//:LICENSE"
  "//tests/wheel:link_test" -> "//python:torch_cuda_wheel"
}
"""


class ParseTest(absltest.TestCase):
    def test_edges_are_read(self) -> None:
        edges = layers.parse_graph(GRAPH)
        self.assertLen(edges, 11)
        self.assertIn(("//aten_cuda/core:core", "//c10_cuda:c10_cuda"), edges)

    def test_text_without_edges_is_no_graph(self) -> None:
        with self.assertRaisesRegex(ValueError, "no edge"):
            layers.parse_graph("//c10_cuda:c10_cuda\n")


class ViolationsTest(parameterized.TestCase):
    def test_downward_arrows_pass(self) -> None:
        self.assertEqual(layers.violations(layers.parse_graph(GRAPH)), [])

    @parameterized.parameters(
        ("//c10_cuda:c10_cuda", "//aten_cuda/core:core", "c10_cuda lies below aten_cuda"),
        ("//aten_cuda/native:blas", "//framework/jit:jit", "aten_cuda lies below framework"),
        ("//framework:framework", "//python/csrc:bindings", "framework lies below python/csrc"),
        ("//python/csrc:_CUDAC.so", "//python/torch_cuda:torch_cuda", "python/csrc lies below"),
        ("@@//c10_cuda:c10_cuda", "@@//framework:framework", "c10_cuda lies below framework"),
    )
    def test_upward_arrow_is_reported(self, source: str, target: str, reason: str) -> None:
        (violation,) = layers.violations([*layers.parse_graph(GRAPH), (source, target)])
        self.assertEqual((violation.source, violation.target), (source, target))
        self.assertIn(reason, str(violation))

    @parameterized.parameters("//framework:framework", "//python/csrc:_CUDAC.so", "//python:wheel")
    def test_plugin_is_known_to_nobody(self, source: str) -> None:
        for plugin in ("//distributed:nccl", "//profiler:cupti"):
            (violation,) = layers.violations([(source, plugin)])
            self.assertIn("is a plugin, which nothing may know", str(violation))

    def test_plugins_do_not_know_each_other(self) -> None:
        self.assertLen(layers.violations([("//distributed:nccl", "//profiler:cupti")]), 1)

    def test_plugin_may_use_what_lies_below(self) -> None:
        self.assertEqual(layers.violations([("//distributed:nccl", "//framework:framework")]), [])

    def test_table_of_all_sources_may_look_at_every_layer(self) -> None:
        edges = [
            ("//python:torch_cuda_wheel", "//upstream/units"),
            ("//upstream/units", "//distributed:c10d"),
        ]
        self.assertEqual(layers.violations(edges), [])

    def test_setting_that_knows_a_layer_is_reported(self) -> None:
        (violation,) = layers.violations([("//config:ops", "//framework:framework")])
        self.assertIn("settings are used by layers", str(violation))

    @parameterized.parameters("//tests/wheel:elf", "//cudasim:cudart", "//bench:import_time")
    def test_layer_that_uses_no_layer_is_reported(self, target: str) -> None:
        (violation,) = layers.violations([("//aten_cuda/core:core", target)])
        self.assertIn("is no layer", str(violation))


if __name__ == "__main__":
    absltest.main()
