"""The report: each operator with a CUDA kernel is in one list, and the counts are the lists'."""

from __future__ import annotations

import json

from absl.testing import absltest

from router.codegen import operators, report, upstream_operators

_YAML = """
- func: silu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
- func: _fused_sgd_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *,
    float weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool is_first_step,
    Tensor? grad_scale=None, Tensor? found_inf=None) -> ()
- func: acme::clip(Tensor self) -> Tensor
"""


class ReportTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.upstream = upstream_operators.read("2.6")
        self.operators = operators.read(_YAML, "y.yaml", "acme", self.upstream)
        self.names = report.served(self.operators, self.upstream)

    def test_a_structured_kernel_serves_all_variants(self) -> None:
        self.assertContainsSubset(["silu", "silu_", "silu.out"], self.names["native"])
        self.assertIn("_fused_sgd_.tensor_lr", self.names["native"])

    def test_each_operator_is_in_one_list(self) -> None:
        lists = [set(self.names[kind]) for kind in ("native", "fallback", "missing")]
        self.assertEqual(sum(map(len, lists)), len(set.union(*lists)))
        self.assertContainsSubset(self.upstream.with_cuda, set.union(*lists))

    def test_lists_are_what_pytorch_has(self) -> None:
        self.assertIn("add.out", self.names["fallback"])
        self.assertIn("add.Tensor", self.names["fallback"])  # by its structured delegate
        self.assertIn("_thnn_fused_lstm_cell", self.names["missing"])
        self.assertNotIn("mkldnn_linear", self.names["missing"])  # has no CUDA kernel
        self.assertEqual(self.names["own"], ["acme::clip"])

    def test_both_forms_say_the_same(self) -> None:
        data = json.loads(report.as_json(self.operators, "2.6.0", self.names))
        self.assertEqual(data.pop("device"), "acme")
        self.assertEqual(data.pop("torch"), "2.6.0")
        self.assertEqual(data, self.names)
        text = report.as_markdown(self.operators, "2.6.0", self.names)
        self.assertStartsWith(text, "# Operators of acme, PyTorch 2.6.0\n")
        for kind, names in self.names.items():
            self.assertIn(f"| {kind} | {len(names)} |", text)
            for name in names:
                self.assertIn(f"- `{name}`\n", text)


if __name__ == "__main__":
    absltest.main()
