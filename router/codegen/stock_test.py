"""A YAML for several versions of PyTorch, by the torchgen of one of them.

stock_test.py MINOR
"""

from __future__ import annotations

import json
import pathlib
import sys
import textwrap

import torchgen
from absl.testing import absltest

from router.codegen import generate, operators, upstream_operators, versions

_MINOR = sys.argv.pop(1)
# The diagonal of `tril` is a plain integer before 2.12.
_YAML = """
- func: silu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CUDA: silu_out}

- func: tril(Tensor self, int diagonal=0) -> Tensor

- func: _pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor
  torch: "<2.15"
- func: _pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor
  torch: ">=2.15"

- func: acme::soft_clip(Tensor self, float limit) -> Tensor
  dispatch: {CUDA: soft_clip, Meta: soft_clip}
  autograd: {self: grad}
"""


class StockTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def generate(self, text: str) -> int:
        yaml = self.folder / "y.yaml"
        yaml.write_text(textwrap.dedent(text))
        names = ("header", "source", "kernels", "markdown", "json")
        outputs = [f"--{name}={self.folder / name}" for name in names]
        return generate.main([f"--torch={_MINOR}", "--device=acme", f"--yaml={yaml}", *outputs])

    def test_torchgen_is_that_of_the_version(self) -> None:
        # Named tensors were there until 2.14.
        upstream = upstream_operators.read(_MINOR)
        named = "sum.dim_DimnameList" in upstream.functions
        self.assertEqual(named, versions.minor(_MINOR) < (2, 15))
        self.assertNotIn("dist-packages", torchgen.__file__)

    def test_one_yaml_serves_all(self) -> None:
        self.assertEqual(self.generate(_YAML), 0)
        header = (self.folder / "header").read_text()
        self.assertIn("at::Tensor tril(const at::Tensor & self, int64_t diagonal=0)", header)
        grad = "grad" if versions.minor(_MINOR) < (2, 15) else "grad_output"
        self.assertIn(f"_pdist_backward(const at::Tensor & {grad},", header)
        # One function, declared once: a default argument may not be given twice.
        self.assertEqual(header.count("soft_clip("), 2)  # and that of the namespace ops
        source = (self.folder / "source").read_text()
        self.assertEqual("NamedTensorUtils.h" in source, versions.minor(_MINOR) < (2, 15))
        report = json.loads((self.folder / "json").read_text())
        self.assertEqual(report["torch"], _MINOR)
        self.assertContainsSubset(["silu", "silu_", "silu.out", "tril"], report["native"])
        self.assertIn(f"PyTorch {_MINOR}", (self.folder / "markdown").read_text())

    def test_an_entry_without_versions_has_to_fit(self) -> None:
        other = "grad_output" if versions.minor(_MINOR) < (2, 15) else "grad"
        schema = f"_pdist_backward(Tensor {other}, Tensor self, float p, Tensor pdist) -> Tensor"
        with self.assertRaisesRegex(operators.YamlError, f"PyTorch {_MINOR}"):
            operators.read(f"- func: {schema}", "y.yaml", "acme", upstream_operators.read(_MINOR))
        self.assertEqual(self.generate(f"- func: {schema}"), 1)


if __name__ == "__main__":
    absltest.main()
