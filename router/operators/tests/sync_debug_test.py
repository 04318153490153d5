"""`torch.cuda.set_sync_debug_mode` tells of the operators that have the host wait on CUDA's devices."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized

_Work = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], object]


class SyncDebugTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(torch.cuda.set_sync_debug_mode, "default")

    def said(self, work: _Work) -> list[str]:
        """What work on numbers, flags and indices is warned of."""
        numbers = torch.arange(4.0, device="cuda")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            indices = torch.tensor([2, 1], device="cuda")
            flags = numbers > 1
            torch.cuda.set_sync_debug_mode("warn")
            work(numbers, flags, indices)
        torch.cuda.set_sync_debug_mode("default")
        return [str(each.message) for each in said]

    @parameterized.named_parameters(
        ("nonzero", lambda a, f, i: a.nonzero()),
        ("a mask", lambda a, f, i: a[f]),
        ("a mask that is given a tensor", lambda a, f, i: a.index_put_((f,), a[0] + 1)),
        ("indices of the host", lambda a, f, i: a[torch.tensor([0, 1])]),
        (
            "indices of the host to put",
            lambda a, f, i: a.index_put_((torch.tensor([0]),), a[0] + 1),
        ),
        ("a number", lambda a, f, i: a[0].item()),
        ("unique", lambda a, f, i: a.unique()),
        ("equal", lambda a, f, i: torch.equal(a, a + 1)),
        ("repeats", lambda a, f, i: torch.repeat_interleave(a[:2], i)),
    )
    def test_who_waits_is_told(self, work: _Work) -> None:
        self.assertStartsWith("".join(self.said(work)), "called a synchronizing CUDA operation")

    @parameterized.named_parameters(
        ("arithmetic", lambda a, f, i: (a + 1).sin_().sum()),
        ("indices", lambda a, f, i: a[i]),
        ("indices to put", lambda a, f, i: a.index_put_((i,), a[0] + 1)),
        ("a mask that is given a number", lambda a, f, i: a.index_put_((f,), torch.tensor(2.0))),
        ("repeats that are counted", lambda a, f, i: a[:2].repeat_interleave(i, output_size=3)),
        ("sorting", lambda a, f, i: a.sort()),
    )
    def test_nobody_else_is(self, work: _Work) -> None:
        self.assertEmpty(self.said(work))

    def test_an_error_where_that_is_asked_for(self) -> None:
        numbers = torch.arange(4.0, device="cuda")
        torch.cuda.set_sync_debug_mode("error")
        with self.assertRaisesRegex(RuntimeError, "called a synchronizing CUDA operation"):
            numbers.nonzero()


if __name__ == "__main__":
    absltest.main()
