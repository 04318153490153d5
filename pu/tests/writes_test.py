"""What operators write to on pu, in place and as out=, and second derivatives: the CPU's, write by write.

Every operator that PyTorch has float32 samples for. A write that autograd does not count is a wrong
gradient in silence; so is a second derivative that is not there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch_pu  # noqa: F401 - gives torch the device
from absl.testing import absltest, parameterized
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree as pytree

from tests.accelerator import samples

_SAMPLES = 2  # of each operator

# Their numbers are drawn.
_RANDOM = frozenset(
    [
        "bernoulli",
        "cauchy",
        "exponential",
        "geometric",
        "log_normal",
        "multinomial",
        "normal",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "uniform",
        "nn.functional.dropout",
        "nn.functional.dropout2d",
        "nn.functional.dropout3d",
        "nn.functional.alpha_dropout",
        "nn.functional.feature_alpha_dropout",
        "nn.functional.rrelu",
        "nn.functional.fractional_max_pool2d",
        "nn.functional.fractional_max_pool3d",
        "nn.functional.multi_head_attention_forward",
        "svd_lowrank",
        "pca_lowrank",
    ]
)
# What differs from the CPU on cuda as well, where it is served by the CPU's kernels.
_CUDA_S = {
    "mode": "out= of the CPU's kernel has no dispatch stub",
    "nanmean": "out= of the CPU's kernel has no dispatch stub",
    "chalf": "the CPU divides no complex halves",
}
# The CPU's fused kernel has no second derivative. pu computes attention by its definition, which has one;
# so does the CPU, if it is told to.
_BY_DEFINITION = "nn.functional.scaled_dot_product_attention"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a call did: the type of its error, or tensors on the host, and plain facts."""

    error: str
    tensors: list[torch.Tensor]
    facts: list[object]


def leaves(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def moved(value: Any, device: str) -> Any:
    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            copy = leaf.detach().clone().to(device)
            return copy.requires_grad_(leaf.requires_grad)
        return torch.device(device) if leaf in ("cpu", torch.device("cpu")) else leaf

    return pytree.tree_map(move, value)


def in_place(operator: Any, sample: Any) -> tuple[list[torch.Tensor], list[object]]:
    value, arguments, keywords = sample
    value = value * 1
    before = value._version
    result = operator.inplace_variant(value, *arguments, **keywords)
    return [value], [result is value, value._version - before, value.stride()]


def buffer_for(result: torch.Tensor) -> torch.Tensor:
    """A tensor for out=: columns first, so that the kernel has to mind the strides."""
    if result.dim() != 2:
        return torch.full_like(result, 7)
    return torch.full_like(result.t(), 7, memory_format=torch.contiguous_format).t()


def out(operator: Any, sample: Any) -> tuple[list[torch.Tensor], list[object]]:
    value, arguments, keywords = pytree.tree_map(
        lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, sample
    )
    result = operator(value, *arguments, **keywords)
    if not leaves(result):
        return [], [result]
    buffers = pytree.tree_map(buffer_for, result)
    if not isinstance(buffers, torch.Tensor):
        buffers = tuple(buffers)
    before = [tensor._version for tensor in leaves(buffers)]
    operator(value, *arguments, **keywords, out=buffers)
    facts = [
        (tensor._version - version, tensor.stride())
        for tensor, version in zip(leaves(buffers), before, strict=True)
    ]
    return leaves(buffers), list(facts)


def twice(operator: Any, sample: Any) -> tuple[list[torch.Tensor], list[object]]:
    value, arguments, keywords = sample
    inputs = [tensor for tensor in leaves(sample) if tensor.requires_grad]
    results = [t for t in leaves(operator(value, *arguments, **keywords)) if t.requires_grad]
    if not inputs or not results:
        return [], []
    first = torch.autograd.grad(
        [result.abs().square().sum() for result in results],
        inputs,
        create_graph=True,
        allow_unused=True,
    )
    there = [gradient for gradient in first if gradient is not None and gradient.requires_grad]
    second: tuple[torch.Tensor | None, ...] = ()
    if there:
        second = torch.autograd.grad(
            [gradient.abs().square().sum() for gradient in there], inputs, allow_unused=True
        )
    return (
        [gradient for gradient in (*first, *second) if gradient is not None],
        [len(there), [gradient is None for gradient in (*first, *second)]],
    )


def outcome(way: Callable[..., Any], operator: Any, sample: Any, device: str) -> Outcome:
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensors, facts = way(operator, moved(sample, device))
    except (RuntimeError, NotImplementedError, IndexError, ValueError, TypeError) as error:
        return Outcome(type(error).__name__, [], [])
    return Outcome("", [tensor.detach().cpu() for tensor in tensors], facts)


def wanted_outcome(way: Callable[..., Any], operator: Any, sample: Any) -> Outcome:
    """What the CPU does."""
    by_definition = way is twice and operator.name == _BY_DEFINITION
    with sdpa_kernel(SDPBackend.MATH) if by_definition else contextlib.nullcontext():
        return outcome(way, operator, sample, "cpu")


class WritesTest(parameterized.TestCase):
    @parameterized.named_parameters(*samples.operators())
    def test_operator(self, operator: Any) -> None:
        if operator.name in _RANDOM or operator.name.startswith(("jiterator", "new_", "empty")):
            self.skipTest("its numbers are drawn, or a function of torch.cuda")
        if operator.name in _CUDA_S:
            self.skipTest(_CUDA_S[operator.name])
        ways = [twice] if operator.supports_gradgrad else []
        ways += [out] if operator.supports_out else []
        ways += [in_place] if operator.inplace_variant else []
        torch.manual_seed(0)
        found = operator.sample_inputs(
            "cpu", torch.float32, requires_grad=operator.supports_autograd
        )
        for sample in itertools.islice(found, _SAMPLES):
            for way in ways:
                arguments = (sample.input, sample.args, sample.kwargs)
                wanted = wanted_outcome(way, operator, arguments)
                mine = outcome(way, operator, arguments, "pu")
                with self.subTest(way.__name__):
                    self.assertEqual(mine.error, wanted.error)
                    self.assertEqual(mine.facts, wanted.facts)
                    torch.testing.assert_close(
                        mine.tensors, wanted.tensors, equal_nan=True, rtol=1e-4, atol=1e-4
                    )


if __name__ == "__main__":
    absltest.main()
