"""Which kernel serves which operator of a stock torch, and what becomes of those that nobody serves.

    TORCH_CUDA_DEVICES=fake python tests/stock/served_test.py

PyTorch's packages have their CUDA kernels as machine code for NVIDIA's GPUs. A launch of one on another device
is a fault of the device, so that no operator may keep such a kernel but one that launches nothing.
"""

from __future__ import annotations

import re
import unittest
from collections.abc import Iterator
from typing import Any

import torch

_LAYOUTS = {
    "CUDA": lambda: torch.zeros(4, 4, device="cuda"),
    "SparseCUDA": lambda: torch.zeros(4, 4, device="cuda").to_sparse(),
    "SparseCsrCUDA": lambda: torch.zeros(4, 4, device="cuda").to_sparse_csr(),
    "NestedTensorCUDA": lambda: torch.nested.nested_tensor([torch.zeros(4, 4, device="cuda")]),
    "QuantizedCUDA": lambda: torch.quantize_per_tensor(
        torch.zeros(4, 4, device="cuda"), 1.0, 0, torch.qint8
    ),
}
_OURS = "router/operators"
_REFUSED = f"{_OURS} (refused)"

# What launches nothing: views, sizes, storages, allocation, streams.
_LAUNCH_NOTHING = frozenset(
    f"aten::{name}"
    for name in [
        "_coalesced_",
        "_efficientzerotensor",
        "_indices",
        "_local_scalar_dense",
        "_nested_tensor_size",
        "_nested_tensor_storage_offsets",
        "_nested_tensor_strides",
        "_nested_view_from_buffer",
        "_nnz",
        "_reshape_alias",
        "_sparse_broadcast_to",
        "_sparse_coo_tensor_with_dims",
        "_sparse_coo_tensor_with_dims_and_tensors",
        "_values",
        "alias",
        "as_strided",
        "ccol_indices",
        "chunk",
        "col_indices",
        "copy_",
        "copy_sparse_to_sparse_",
        "crow_indices",
        "dense_dim",
        "detach",
        "empty.memory_format",
        "empty_strided",
        "indices",
        "is_coalesced",
        "is_pinned",
        "_pin_memory",
        "is_set_to",
        "narrow",
        "native_dropout",
        "permute",
        "q_per_channel_axis",
        "q_scale",
        "q_zero_point",
        "qscheme",
        "record_stream",
        "resize_",
        "resize_as_sparse_",
        "row_indices",
        "select.int",
        "set_",
        "set_.source_Storage",
        "set_.source_Storage_storage_offset",
        "set_.source_Tensor",
        "sparse_dim",
        "sparse_resize_",
        "sparse_resize_and_clear_",
        "split_with_sizes",
        "squeeze",
        "squeeze.dim",
        "squeeze.dims",
        "transpose.int",
        "unbind.int",
        "unfold",
        "unsqueeze",
        "values",
        "view",
        "view_as_complex",
        "view_as_real",
    ]
)
# Collectives; PyTorch's own choice of Triton kernels, which asks for them by these names; a state of random numbers.
_OTHERS = re.compile(
    r"c10d::(?!check_for_nan)|_native::|triton::|inductor_prims::inductor_reserve_rng_state$"
)


def kernels() -> Iterator[tuple[str, str, str]]:
    """Operator, key and origin of each kernel that serves a key of CUDA's."""
    for name in torch._C._dispatch_get_all_op_names():
        for line in torch._C._dispatch_dump(name).splitlines():
            key, _, origin = line.partition(": ")
            if key in _LAYOUTS:
                yield name, key, origin.removeprefix("registered at ")


def argument(argument: Any, key: str) -> Any:
    """Some value for an argument."""
    kind = str(argument.type)
    if argument.has_default_value():
        return argument.default_value
    if kind.startswith("Optional["):
        return None
    values: dict[str, Any] = {
        "Tensor": _LAYOUTS[key],
        "List[Tensor]": lambda: [_LAYOUTS[key]()],
        "int": lambda: 1,
        "SymInt": lambda: 1,
        "List[int]": lambda: [1],
        "List[SymInt]": lambda: [1],
        "float": lambda: 0.0,
        "bool": lambda: False,
        "List[bool]": lambda: [True] * 4,
        "number": lambda: 1,
        "str": lambda: "",
    }
    if kind == "List[bool]":
        return [True] * (argument.N or 4)
    return values[kind]()


class ServedTest(unittest.TestCase):
    """What the dispatcher calls for tensors of CUDA."""

    def setUp(self) -> None:
        torch.zeros(1, device="cuda")  # has the operators routed

    def test_no_kernel_of_machine_code_is_left(self) -> None:
        left = {
            name
            for name, _, origin in kernels()
            if not origin.startswith(_OURS)
            and name not in _LAUNCH_NOTHING
            and not _OTHERS.match(name)
        }
        self.assertEqual(left, set())

    def test_what_nobody_serves_says_so_by_name_and_launches_nothing(self) -> None:
        refused = [(name, key) for name, key, origin in kernels() if origin.startswith(_REFUSED)]
        self.assertGreater(len(refused), 20)
        for name, key in refused:
            with self.subTest(name=name, key=key):
                namespace, _, rest = name.partition("::")
                base, _, overload = rest.partition(".")
                operator = getattr(
                    getattr(getattr(torch.ops, namespace), base), overload or "default"
                )
                if "SymmetricMemory" in str(operator._schema):
                    continue  # nobody has such an object: what makes one refuses
                given = [
                    argument(one, key) for one in operator._schema.arguments if not one.kwarg_only
                ]
                named = {
                    one.name: argument(one, key)
                    for one in operator._schema.arguments
                    if one.kwarg_only
                }
                with self.assertRaisesRegex(NotImplementedError, re.escape(name)):
                    operator(*given, **named)
                torch.cuda.synchronize()


class CopiesTest(unittest.TestCase):
    """Copies that a program hands to PyTorch's composite, past the router, as FlagGems does."""

    def test_results_are_the_cpus(self) -> None:
        composite = torch._C.DispatchKeySet(torch._C.DispatchKey.CompositeExplicitAutograd)
        source = torch.arange(12.0).reshape(3, 4)
        for dtype in (torch.float32, torch.complex64, torch.float16, torch.int64):
            for begin, end in (("cuda", "cuda"), ("cpu", "cuda"), ("cuda", "cpu")):
                for transposed in (False, True):
                    with self.subTest(dtype=dtype, begin=begin, end=end, transposed=transposed):
                        given = source.to(begin)
                        result = torch.zeros(4, 3, dtype=dtype, device=end)
                        torch.ops.aten.copy_.default.redispatch(
                            composite,
                            result if transposed else result.t(),
                            given.t() if transposed else given,
                            False,
                        )
                        self.assertTrue(torch.equal(result.cpu(), source.t().to(dtype)))


class CompositesTest(unittest.TestCase):
    """Operators made of others that for some types ask for a kernel by the device, past the router."""

    def ldexp(self, device: str, value: torch.dtype, exponent: torch.dtype) -> list[torch.Tensor]:
        """Two to the power of exponents times values: as a new tensor, in place, as out=, and its gradient."""
        values = torch.tensor([0.75, -3.0, 0.0, torch.inf, torch.nan, 1.0]).to(value).to(device)
        exponents = torch.tensor([1, -2, 3, 4, 5, 90]).to(exponent).to(device)
        out = torch.empty(12, device=device, dtype=value)[::2]
        leaf = values.clone().requires_grad_()
        torch.ldexp(values[::2], exponents[::2], out=out[:3])
        torch.ldexp(leaf, exponents).sum().backward()
        assert leaf.grad is not None
        return [
            torch.ldexp(values, exponents),
            torch.ldexp(values, exponents[0]),
            values.clone().ldexp_(exponents),
            out[:3],
            leaf.grad,
        ]

    def test_ldexp_is_the_cpus(self) -> None:
        for value in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            for exponent in (torch.int8, torch.int32, torch.int64, value):
                with self.subTest(value=value, exponent=exponent):
                    wanted = self.ldexp("cpu", value, exponent)
                    found = [each.cpu() for each in self.ldexp("cuda", value, exponent)]
                    torch.testing.assert_close(found, wanted, equal_nan=True)


if __name__ == "__main__":
    unittest.main()
