"""Autocast on pu: CUDA's lists, and other policies for single operators."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch_pu
from absl.testing import absltest, parameterized

HALF = torch.float16

_LAST = """
def last(x: Tensor) -> Tensor:
    tensors: List[Optional[Tensor]] = [None, x]
    return torch.ops.pu_amp_test.last(tensors)
"""

# What a call gives under autocast, of tensors of float32.
CALLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "lower_precision": lambda x: x @ x,
    "linear": lambda x: torch.nn.functional.linear(x, x),
    "float32": lambda x: x.half().exp(),
    "dtype": lambda x: x.half().sum(),
    "softmax": lambda x: x.half().softmax(0),
    "appended": lambda x: torch.norm(x.half()),
    "appended_dim": lambda x: torch.norm(x.half(), dim=0),
    "promote": lambda x: torch.addcmul(x, x.half(), x.half()),
    "list": lambda x: torch.tensordot(x.half(), x),
    "none": lambda x: x.half() + x.half(),
}


class AutocastTest(parameterized.TestCase):
    @parameterized.named_parameters(*CALLS.items())
    def test_types_are_cuda_s(self, call: Callable[[torch.Tensor], torch.Tensor]) -> None:
        types = []
        for device in ("pu", "cuda"):
            with torch.autocast(device, HALF):
                types.append(call(torch.ones(3, 3, device=device)).dtype)
        self.assertEqual(types[0], types[1])

    def test_off_inside(self) -> None:
        x = torch.ones(2, 2, device="pu")
        with torch.autocast("pu", HALF), torch.autocast("pu", enabled=False):
            self.assertEqual((x @ x).dtype, torch.float32)
        self.assertEqual((x @ x).dtype, torch.float32)

    def test_unsafe(self) -> None:
        x = torch.full((2,), 0.5, device="pu")
        with (
            torch.autocast("pu"),
            self.assertRaisesRegex(RuntimeError, "binary_cross_entropy_with_logits"),
        ):
            torch.nn.functional.binary_cross_entropy(x, x)

    def test_modules_of_amp(self) -> None:
        x = torch.ones(2, 2, device="pu")
        with torch_pu.amp.autocast(dtype=torch.bfloat16):
            self.assertEqual((x @ x).dtype, torch.bfloat16)
        self.assertEqual(torch.pu.amp.GradScaler()._device, "pu")  # type: ignore[attr-defined]


class RegisterTest(absltest.TestCase):
    def test_other_policies(self) -> None:
        x = torch.ones(2, 2, device="pu")
        for policy, half, full in (
            ("fp32", torch.float32, torch.float32),
            ("none", torch.float16, torch.float32),
            ("promote", torch.float16, torch.float32),
            ("lower_precision_fp", torch.float16, torch.float16),
        ):
            torch_pu.amp.register(torch.ops.aten.bmm.default, policy)
            with torch.autocast("pu", HALF):
                self.assertEqual(torch.bmm(x.half()[None], x.half()[None]).dtype, half, policy)
                self.assertEqual(torch.bmm(x[None], x[None]).dtype, full, policy)

    def test_an_operator_outside_the_lists(self) -> None:
        x = torch.ones(2, device="pu", dtype=HALF)
        torch_pu.amp.register("aten::add.Tensor", "fp32")
        with torch.autocast("pu"):
            self.assertEqual((x + x).dtype, torch.float32)
        torch_pu.amp.register("aten::add.Tensor", "none")

    def test_a_list_that_torchscript_makes(self) -> None:
        library = torch.library.Library("pu_amp_test", "DEF")
        library.define("last(Tensor?[] tensors) -> Tensor")
        library.impl("last", lambda tensors: tensors[-1] * 1, "CUDA")
        torch_pu.amp.register("pu_amp_test::last", "lower_precision_fp")
        unit = torch.jit.CompilationUnit(_LAST)
        with torch.autocast("pu", HALF):
            self.assertEqual(unit.last(torch.ones(2, device="pu")).dtype, HALF)

    def test_errors(self) -> None:
        with self.assertRaisesRegex(ValueError, "aten::no_such"):
            torch_pu.amp.register("aten::no_such", "fp32")
        with self.assertRaisesRegex(ValueError, "needed one of none, lower_precision_fp"):
            torch_pu.amp.register("aten::mm", "fp8")


if __name__ == "__main__":
    absltest.main()
