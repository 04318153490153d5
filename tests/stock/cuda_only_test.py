"""Calls every operator that PyTorch has a CUDA kernel for and none for the CPU.

    TORCH_CUDA_DEVICES=fake python tests/stock/cuda_only_test.py

The list is the dispatcher's of the installed torch. An operator gives the numbers of a reference that is made of
the CPU's operators (cuda_only/), or raises NotImplementedError with its name. One that has neither a reference nor a
refusal here fails the test: it came with a new version.
"""

from __future__ import annotations

import re
import unittest
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from cuda_only import (  # type: ignore[import-not-found]  # beside this file
    attention,
    convolutions,
    normalization,
    products,
    scaled,
    semi_structured,
    sequences,
)
from torch import Tensor
from torch._subclasses.fake_tensor import MetadataMismatchError
from torch._subclasses.fake_utils import CrossRefFakeMode

_LAYOUTS = ("", "Sparse", "SparseCsr", "Quantized", "NestedTensor")
_COMPOSITES = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
# PyTorch's own Triton kernels, which serve other operators; a state of random numbers; objects that nobody can make
# where their maker refuses (served_test.py has the latter).
_NOT_CALLED = re.compile(r"_native::|triton::|inductor_prims::|symm_mem::")

Check = Callable[[], Iterator[tuple[Any, Any]]]


def cuda_only() -> list[tuple[str, str]]:
    """Operators with a kernel of CUDA's and none of the CPU's, and the layout that it is for."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return [
        (name, layout)
        for name in sorted(torch._C._dispatch_get_all_op_names())
        for layout in _LAYOUTS
        if has(name, f"{layout}CUDA")
        and not has(name, f"{layout}CPU")
        and not any(has(name, composite) for composite in _COMPOSITES)
        and not _NOT_CALLED.match(name)
    ]


def record_stream() -> Iterator[tuple[Any, Any]]:
    """Memory that another stream uses."""
    x = torch.ones(3, device="cuda")
    x.record_stream(torch.cuda.Stream())
    yield x, torch.ones(3)


# What checks which operators, by their names without overloads. In this order, as each takes the random numbers that
# the one before has left.
_CHECKS: dict[Check, Sequence[str]] = {
    **normalization.CHECKS,
    **convolutions.CHECKS,
    **sequences.CHECKS,
    **attention.CHECKS,
    **products.CHECKS,
    **semi_structured.CHECKS,
    **scaled.CHECKS,
    record_stream: ["record_stream"],
}

# What nobody serves: operator and layout. It raises, and says what to use (served_test.py calls all of them).
_REFUSED = re.compile(
    r"aten::miopen_\w+(\.\w+)? CUDA"
    r"|aten::_sparse_semi_structured_(tile|apply|apply_dense) CUDA"
    r"|aten::_spsolve SparseCsrCUDA"
    r"|aten::(bmm|baddbmm)\.out SparseCsrCUDA"
    r"|aten::_triton_(scaled_dot|multi_head)_attention CUDA"
    r"|aten::_fill_mem_eff_dropout_mask_ CUDA"
    r"|aten::_scaled_dot_product_(flash|efficient|cudnn)_attention(_backward)? NestedTensorCUDA"
    r"|aten::\w*_attention\w*\.quantized CUDA"
    r"|aten::_cudnn_attention_(forward|backward) CUDA"
    r"|aten::_(cudnn|flash)_attention_forward_no_dropout_inplace CUDA"
    r"|aten::_philox_\w+ CUDA"  # of torch 2.12; the CPU of later ones has them
    r"|c10d::check_for_nan CUDA"
)


class CudaOnlyTest(unittest.TestCase):
    """All operators of CUDA alone."""

    def setUp(self) -> None:
        torch.manual_seed(1)
        torch.zeros(1, device="cuda")  # has the operators routed

    def compare(self, found: Any, wanted: Any) -> None:
        """Numbers, or what else is returned."""
        if not isinstance(wanted, Tensor):
            self.assertEqual(found, wanted)
            return
        self.assertIsInstance(found, Tensor)
        torch.testing.assert_close(
            found.detach().cpu(), wanted.detach().cpu(), rtol=2e-4, atol=2e-4, equal_nan=True
        )

    def test_each_has_a_reference_or_a_refusal(self) -> None:
        checked = {f"aten::{name}" for names in _CHECKS.values() for name in names}
        unknown = [
            f"{name} {layout}CUDA"
            for name, layout in cuda_only()
            if not _REFUSED.fullmatch(f"{name} {layout}CUDA")
            and (layout != "" or name.partition(".")[0] not in checked)
        ]
        self.assertEqual(unknown, [], "give them a check, or a refusal with what to use")

    def test_what_is_refused_has_no_kernel(self) -> None:
        for name, layout in cuda_only():
            if _REFUSED.fullmatch(f"{name} {layout}CUDA"):
                with self.subTest(name=name, layout=layout):
                    self.assertRegex(
                        torch._C._dispatch_dump(name),
                        rf"(?m)^{layout}CUDA: router/operators \(refused\)",
                    )

    def test_numbers(self) -> None:
        there = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
        for check, names in _CHECKS.items():
            if not any(f"aten::{name}" in there for name in names):
                continue  # of a later version
            with self.subTest(check=check.__name__):
                for i, (found, wanted) in enumerate(check()):
                    with self.subTest(check=check.__name__, i=i):
                        self.compare(found, wanted)
                torch.cuda.synchronize()

    def test_compilers_are_told_the_same_sizes_and_types(self) -> None:
        # torch.compile computes with what PyTorch's own functions on meta tensors say of a result.
        there = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
        compared = 0
        # What PyTorch's functions before 2.15 and 2.12 say otherwise than its kernels.
        minor = int(torch.__version__.split(".")[1])
        other = {"_fused_dropout"} if minor < 15 else set()
        other |= {"_scaled_grouped_mm"} if minor < 12 else set()
        for check, names in _CHECKS.items():
            own = {f"aten::{name.partition('.')[0]}" for name in names if name not in other} & there

            def is_other(op: Any, own: set[str] = own) -> bool:
                name, _, overload = op.name().partition(".")
                return name not in own or "out" in overload  # a result of the caller's is resized

            with self.subTest(check=check.__name__):
                try:
                    with CrossRefFakeMode(ignore_op_fn=is_other, check_aliasing=False):
                        for _ in check() if own else ():
                            pass
                    compared += bool(own)
                except MetadataMismatchError:
                    raise
                except Exception as error:  # noqa: BLE001 -- not every operator has such a function
                    print(f"not compared: {check.__name__}: {str(error).splitlines()[0][:100]}")
        self.assertGreater(compared, 8)


if __name__ == "__main__":
    unittest.main()
