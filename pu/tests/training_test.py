"""Models train on pu to the very numbers that they have on cuda."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch_pu  # noqa: F401 - gives torch the device
from absl.testing import absltest, parameterized

from tests.accelerator import models


class TrainingTest(parameterized.TestCase):
    @parameterized.parameters(
        models.cnn,
        models.transformer,
        models.recurrent,
        models.gru,
        models.mixed_precision,
        models.half_precision,
    )
    def test_losses_are_cuda_s(self, train: Callable[[str], list[float]]) -> None:
        losses = train("pu")
        self.assertLen(set(losses), len(losses))
        if train is models.recurrent and torch.backends.cudnn.is_available():
            # On cuda, PyTorch takes fused cells where it is built with cuDNN.
            self.assertSequenceAlmostEqual(losses, train("cuda"), delta=1e-7)
        else:
            self.assertEqual(losses, train("cuda"))

    def test_a_model_of_cuda_beside_one_of_pu(self) -> None:
        alone = models.cnn("cuda")
        models.cnn("pu")
        self.assertEqual(models.cnn("cuda"), alone)

    def test_compiled_ahead_of_time(self) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).to("pu")
        compiled = torch.compile(model, backend="aot_eager")
        batch = torch.randn(3, 4, device="pu")
        compiled(batch).sum().backward()
        found = model[0].weight.grad.clone()
        model.zero_grad()
        model(batch).sum().backward()
        torch.testing.assert_close(found, model[0].weight.grad, rtol=0, atol=0)


if __name__ == "__main__":
    absltest.main()
