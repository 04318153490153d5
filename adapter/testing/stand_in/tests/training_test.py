"""Models train on the stand-in to the CPU's numbers."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch_stand_in
from absl.testing import absltest, parameterized

from tests.accelerator import models


class TrainingTest(parameterized.TestCase):
    @parameterized.parameters(models.cnn, models.transformer, models.recurrent, models.gru)
    def test_losses_are_the_cpu_s(self, train: Callable[[str], list[float]]) -> None:
        losses = train("stand_in")
        self.assertLen(set(losses), len(losses))
        torch.testing.assert_close(losses, train("cpu"), rtol=1e-5, atol=1e-6)

    @parameterized.parameters(torch.bfloat16, torch.float16)
    def test_mixed_precision(self, dtype: torch.dtype) -> None:
        *losses, scale = models.mixed_precision("stand_in", dtype)
        *expected, expected_scale = models.mixed_precision("cpu", dtype)
        self.assertEqual(scale, expected_scale)
        torch.testing.assert_close(losses, expected, rtol=1e-2, atol=1e-2)

    def test_autocast_casts_by_the_lists(self) -> None:
        number = torch.ones(4, 4, device="stand_in")
        with torch.autocast("stand_in"):
            self.assertEqual((number @ number).dtype, torch.float16)
            self.assertEqual(torch.softmax(number.half(), 0).dtype, torch.float32)
            self.assertEqual(torch.cat([number, number.half()]).dtype, torch.float32)
            self.assertEqual((number + 1).dtype, torch.float32)
            with self.assertRaisesRegex(RuntimeError, "unsafe to autocast"):
                torch.nn.functional.binary_cross_entropy(number, number)
        with torch_stand_in.amp.autocast(dtype=torch.bfloat16):
            self.assertEqual((number @ number).dtype, torch.bfloat16)

    @parameterized.parameters("eager", "aot_eager")
    def test_compiled(self, backend: str) -> None:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).to("stand_in")
        compiled = torch.compile(model, backend=backend)
        batch = torch.randn(3, 4, device="stand_in")
        compiled(batch).sum().backward()
        found = model[0].weight.grad.clone()
        model.zero_grad()
        model(batch).sum().backward()
        torch.testing.assert_close(found, model[0].weight.grad, rtol=0, atol=0)

    def test_optimizers_of_the_cpu_s_parameters_go_on(self) -> None:
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.5)
        model.to("stand_in")
        self.assertEqual(model.weight.device.type, "stand_in")
        before = model.weight.tolist()
        model(torch.ones(1, 2, device="stand_in")).sum().backward()
        optimizer.step()
        self.assertNotEqual(model.weight.tolist(), before)
        model.cpu()
        self.assertIs(optimizer.param_groups[0]["params"][0], model.weight)


if __name__ == "__main__":
    absltest.main()
