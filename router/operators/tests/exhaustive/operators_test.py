"""Every operator that PyTorch has float32 samples for, forwards and backwards: the CPU's very numbers."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from absl.testing import absltest, parameterized

from tests.accelerator import samples

_SAMPLES = 4  # of each operator


class OperatorsTest(parameterized.TestCase):
    @parameterized.named_parameters(*samples.operators())
    def test_operator(self, operator: Any) -> None:
        torch.manual_seed(0)
        inputs = operator.sample_inputs(
            "cpu", torch.float32, requires_grad=operator.supports_autograd
        )
        for sample in itertools.islice(inputs, _SAMPLES):
            try:
                wanted = samples.run(operator, "cpu", sample)
            except RuntimeError:
                continue  # the CPU does not have it
            found = samples.run(operator, "cuda", sample)
            precision: dict[str, Any] = {} if samples.rounds(operator) else {"rtol": 0, "atol": 0}
            for one, other in (
                (found.outputs, wanted.outputs),
                (found.gradients, wanted.gradients),
            ):
                self.assertEqual([x is None for x in one], [x is None for x in other])
                for mine, host in zip(one, other, strict=True):
                    if mine is not None:
                        torch.testing.assert_close(mine, host, equal_nan=True, **precision)


if __name__ == "__main__":
    absltest.main()
