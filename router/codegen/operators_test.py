"""What a vendor's YAML may say, and the messages about what it may not."""

from __future__ import annotations

import textwrap

from absl.testing import absltest

from router.codegen import operators, upstream_operators


def read(text: str) -> operators.Operators:
    return operators.read(textwrap.dedent(text), "y.yaml", "acme", upstream_operators.read("2.6"))


class OperatorsTest(absltest.TestCase):
    def refused(self, text: str, *words: str) -> None:
        with self.assertRaises(operators.YamlError) as caught:
            read(text)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_an_operator_of_pytorch(self) -> None:
        (entry,) = read("- func: relu(Tensor self) -> Tensor").entries
        self.assertEqual((entry.name, entry.kernel, entry.own), ("relu", "relu", False))

    def test_the_kernel_s_name_is_the_operator_s_or_what_is_written(self) -> None:
        schema = "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"
        (entry,) = read(f"- func: {schema}").entries
        self.assertEqual(entry.kernel, "add_Scalar")
        (entry,) = read(f"- func: {schema}\n  dispatch: {{CUDA: plus}}").entries
        self.assertEqual(entry.kernel, "plus")

    def test_a_namespace_of_aten_is_pytorch_s(self) -> None:
        (entry,) = read("- func: aten::relu(Tensor self) -> Tensor").entries
        self.assertFalse(entry.own)

    def test_a_structured_operator_and_its_delegates(self) -> None:
        entries = read("""
            - func: silu(Tensor self) -> Tensor
              structured_delegate: silu.out
            - func: silu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
              structured: True
        """).entries
        self.assertEqual([entry.kernel for entry in entries], [None, "silu_out"])
        self.assertEqual([entry.structured for entry in entries], [False, True])

    def test_an_operator_of_the_vendor_s(self) -> None:
        (entry,) = read("""
            - func: acme::clip(Tensor self, float limit) -> Tensor
              dispatch: {CUDA: clip, Meta: clip_meta}
              autograd: {self: grad}
        """).entries
        self.assertTrue(entry.own)
        self.assertEqual((entry.kernel, entry.meta), ("clip", "clip_meta"))
        self.assertEqual(entry.autograd, {"self": "grad"})

    def test_an_empty_list_is_one(self) -> None:
        self.assertEqual(read("[]").entries, ())

    def test_what_is_no_list(self) -> None:
        self.refused("", "y.yaml", "list")
        self.refused("func: relu", "list")
        self.refused("- [", "no YAML")
        self.refused("- relu", "y.yaml:1", "- func: SCHEMA")
        self.refused("- {dispatch: {CUDA: x}}", "- func: SCHEMA")

    def test_what_is_no_schema(self) -> None:
        self.refused("- func: relu", "y.yaml:1", "relu")
        self.refused("- func: relu(Tensr self) -> Tensor", "y.yaml:1", "Tensr")

    def test_an_operator_that_there_is_not_is_named_with_near_ones(self) -> None:
        self.refused(
            "\n- func: rellu(Tensor self) -> Tensor", "y.yaml:2", "rellu", "relu", "acme::"
        )

    def test_another_schema_is_told_apart(self) -> None:
        self.refused(
            "- func: relu(Tensor input) -> Tensor", "argument 1 is Tensor input", "Tensor self"
        )
        self.refused("- func: relu(Tensor self, int n) -> Tensor", "argument 2 is too many: int n")
        self.refused(
            "- func: add.Scalar(Tensor self, Scalar other) -> Tensor", "argument 3 is missing"
        )
        self.refused("- func: relu(Tensor self) -> (Tensor, Tensor)", "it returns Tensor, Tensor")
        self.refused(
            "- func: add.Scalar(Tensor self, Scalar other, Scalar alpha=2) -> Tensor",
            "alpha=2",
            "alpha=1",
        )

    def test_sizes_may_be_symbols_or_not(self) -> None:
        for kind in ("int", "SymInt"):
            (entry,) = read(f"- func: tril(Tensor self, {kind} diagonal=0) -> Tensor").entries
            self.assertEqual(entry.kernel, "tril")
        self.refused("- func: tril(Tensor self, float diagonal=0) -> Tensor", "float diagonal")

    def test_an_entry_for_other_versions_is_left_out(self) -> None:
        entries = read("""
            - func: relu(Tensor self, int news) -> Tensor
              torch: ">2.6"
            - func: relu(Tensor self) -> Tensor
              torch: "<=2.6"
            - func: of_the_future(Tensor self) -> Tensor
              torch: ">=2.99"
        """).entries
        self.assertEqual([entry.name for entry in entries], ["relu"])

    def test_versions_that_are_none(self) -> None:
        self.refused("- func: relu(Tensor self) -> Tensor\n  torch: 2.12", "y.yaml:1", ">=2.12")

    def test_what_this_version_has_not_may_be_another_s(self) -> None:
        self.refused("- func: relux(Tensor self) -> Tensor", "PyTorch 2.6 does not have", "torch: ")
        self.refused("- func: relu(Tensor x) -> Tensor", "of PyTorch 2.6", 'torch: "==2.6"')

    def test_the_same_operator_twice(self) -> None:
        entry = "- func: relu(Tensor self) -> Tensor\n"
        self.refused(entry + entry, "y.yaml:2", "relu again", "line 1")

    def test_one_kernel_for_two_operators(self) -> None:
        self.refused(
            """\
            - func: relu(Tensor self) -> Tensor
              dispatch: {CUDA: f}
            - func: relu_(Tensor(a!) self) -> Tensor(a!)
              dispatch: {CUDA: f}
            """,
            "y.yaml:3",
            "kernel f",
        )

    def test_a_kernel_of_what_a_structured_one_serves(self) -> None:
        self.refused(
            """\
            - func: silu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
              structured: True
            - func: silu(Tensor self) -> Tensor
            """,
            "y.yaml:3",
            "silu.out",
        )

    def test_a_delegate_of_what_is_not_there(self) -> None:
        delegate = "- func: silu(Tensor self) -> Tensor\n  structured_delegate: "
        self.refused(delegate + "silu.out", "silu.out", "not in this file")
        self.refused(delegate + "relu", "PyTorch has silu.out")

    def test_what_is_not_structured_in_pytorch(self) -> None:
        self.refused("- func: relu(Tensor self) -> Tensor\n  structured: True", "is not in PyTorch")
        self.refused("- func: silu(Tensor self) -> Tensor\n  structured: True", "needed silu.out")

    def test_keys_that_there_are_not(self) -> None:
        relu = "- func: relu(Tensor self) -> Tensor\n  "
        self.refused(relu + "kernel: x", "'kernel'", "dispatch")
        self.refused(relu + "dispatch: x", "CUDA: KERNEL")
        self.refused(relu + "dispatch: {CPU: x}", "CPU", "CUDA")
        self.refused(relu + "dispatch: {CUDA: 'a b'}", "a b")
        self.refused(relu + "dispatch: {Meta: x}", "Meta of relu")
        self.refused(relu + "autograd: {self: grad}", "autograd of relu")

    def test_a_namespace_that_is_not_the_device_s(self) -> None:
        self.refused("- func: other::f(Tensor self) -> Tensor", "other", "acme")

    def test_derivatives_that_cannot_be(self) -> None:
        def own(schema: str, autograd: str) -> str:
            return f"- func: acme::{schema}\n  autograd: {autograd}"

        self.refused(own("f(Tensor self, float x) -> Tensor", "{x: grad}"), "x", "no Tensor")
        self.refused(own("f(Tensor self) -> Tensor", "{sel: grad}"), "near are self")
        self.refused(own("f(Tensor self) -> (Tensor, Tensor)", "{self: grad}"), "one new Tensor")
        self.refused(own("f(Tensor(a!) self) -> Tensor(a!)", "{self: grad}"), "one new Tensor")
        self.refused(own("f(Tensor self, Tensor[] x) -> Tensor", "{self: grad}"), "x is a list")
        self.refused(own("f(Tensor self) -> Tensor", "grad"), "ARGUMENT: DERIVATIVE")


if __name__ == "__main__":
    absltest.main()
