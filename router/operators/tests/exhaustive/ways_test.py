"""Every way into every operator that PyTorch has samples for gives the CPU's numbers, or raises as the CPU does."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from absl import flags
from absl.testing import absltest, parameterized

from router.operators.tests.exhaustive import ways
from router.operators.tests.exhaustive.refusals import is_refused

_SAMPLES = flags.DEFINE_integer("samples", 1, "how many samples of each operator to try")
_CHOSEN = flags.DEFINE_list(
    "types", [], "the types that are tried, such as float32; all where none is named"
)
_TYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.int64,
)
_OF_DERIVATIVES = (torch.float32, torch.float64, torch.complex128)

# Operators whose results differ from the CPU's in half precision, as CUDA's do: they are computed in single precision,
# and statistics stay in it.
_SINGLE_INSIDE = frozenset(
    {
        "native_batch_norm",
        "_native_batch_norm_legit",
        "_batch_norm_with_update",
        "batch_norm",
        "nn.functional.batch_norm",
        "nn.functional.instance_norm",
        "native_layer_norm",
        "nn.functional.layer_norm",
    }
)
# Last bits of singular vectors differ with the memory that LAPACK works in.
_ROUNDING: dict[str, float] = {"pca_lowrank": 1e-3, "svd_lowrank": 1e-3}


_DERIVATIVES = frozenset({"double_backward", "vmap", "functional_gradient", "forward_derivative"})
_SLICES = 8  # of the operators: a test each, for shards


def _cases(dtype: torch.dtype) -> list[str]:
    """The ways that are tried for a type."""
    ways_of_type = [way for way in ways.WAYS if way not in _DERIVATIVES and dtype in _TYPES]
    return ways_of_type + (sorted(_DERIVATIVES) if dtype in _OF_DERIVATIVES else [])


def _types() -> list[torch.dtype]:
    """The types that are tried."""
    every = dict.fromkeys((*_TYPES, *_OF_DERIVATIVES))
    chosen = {getattr(torch, name) for name in _CHOSEN.value}
    return [dtype for dtype in every if not chosen or dtype in chosen]


class WaysTest(parameterized.TestCase):
    def compare(self, operator: Any, dtype: torch.dtype, mine: Any, host: Any) -> None:
        if isinstance(mine, Exception):  # `repr` of tensors takes longer than all else here
            self.fail(f"{mine!r} instead of results")
        found, wanted = ways.tensors(mine), ways.tensors(host)
        self.assertEqual(len(found), len(wanted))
        tolerance: dict[str, Any] = {}
        if operator.name in _SINGLE_INSIDE and dtype in ways.HALVES:
            tolerance = {"rtol": 0.05, "atol": 0.05, "check_dtype": False}
        elif operator.name in _ROUNDING:
            tolerance = {"rtol": _ROUNDING[operator.name], "atol": _ROUNDING[operator.name]}
        for one, other in zip(found, wanted, strict=True):
            self.assertEqual(one.device.type, "cuda")
            torch.testing.assert_close(one.cpu(), other, equal_nan=True, **tolerance)

    def assertAsExact(self, mine: Any, host: Any, wide: Any) -> None:
        """As exact as the CPU: CUDA's kernels add in single precision where the CPU's do in half.

        Args:
          mine: the device's results in half precision.
          host: the CPU's.
          wide: the CPU's in double precision.
        """
        triples = zip(*map(ways.tensors, (mine, host, wide)), strict=True)
        for one, other, exact in triples:
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            if one.dtype not in ways.HALVES:
                torch.testing.assert_close(one.cpu(), other)
                continue
            error, others = ((x.cpu().double() - exact.double()).abs().max() for x in (one, other))
            rounding = 2 * torch.finfo(one.dtype).eps * exact.double().abs().max()
            self.assertLessEqual(error, max(others, rounding))

    @parameterized.parameters(*range(_SLICES))
    def test_operators(self, number: int) -> None:
        compared = 0
        refused: set[tuple[str, torch.dtype]] = set()
        for operator in itertools.islice(ways.operators(), number, None, _SLICES):
            for dtype in _types():
                for sample in ways.samples(operator, dtype, _SAMPLES.value):
                    for way in _cases(dtype):
                        host = ways.attempt(operator, way, sample, "cpu")
                        if host is None or isinstance(host, Exception):
                            continue  # the CPU does not have it
                        mine = ways.attempt(operator, way, sample, "cuda")
                        if is_refused(mine):
                            refused.add((operator.name, dtype))
                            continue
                        with self.subTest(f"{ways.named(operator)}, {way}, {dtype}"):
                            try:
                                self.compare(operator, dtype, mine, host)
                            except AssertionError:
                                if dtype not in ways.HALVES or isinstance(mine, Exception):
                                    raise
                                wide = ways.attempt(operator, way, ways.Widened(sample), "cpu")
                                self.assertAsExact(mine, host, wide)
                        compared += 1
        self.assertGreater(compared, 125 * len(_types()))
        self.assertLess(len(refused), 25)  # of one slice


if __name__ == "__main__":
    absltest.main()
