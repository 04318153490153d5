"""Automatic mixed precision: which operators compute in which type, and scaled gradients."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized
from torch import nn


class AutocastTest(parameterized.TestCase):
    @parameterized.parameters(torch.float16, torch.bfloat16)
    def test_products_are_in_the_lower_precision(self, dtype: torch.dtype) -> None:
        x, weight = torch.randn(4, 4, device="cuda"), torch.randn(4, 4, device="cuda")
        with torch.autocast("cuda", dtype):
            self.assertTrue(torch.is_autocast_enabled("cuda"))
            self.assertEqual((x @ weight).dtype, dtype)
            self.assertEqual(nn.functional.linear(x, weight).dtype, dtype)
            with torch.autocast("cuda", enabled=False):
                self.assertEqual((x @ weight).dtype, torch.float32)
        self.assertEqual((x @ weight).dtype, torch.float32)
        self.assertFalse(torch.is_autocast_enabled("cuda"))

    def test_the_usual_type_is_half(self) -> None:
        x = torch.randn(4, 4, device="cuda")
        with torch.autocast("cuda"):
            self.assertEqual((x @ x).dtype, torch.float16)

    def test_some_are_in_full_precision(self) -> None:
        x = torch.randn(4, 4, device="cuda", dtype=torch.float16)
        with torch.autocast("cuda"):
            self.assertEqual(x.softmax(1).dtype, torch.float32)
            self.assertEqual(x.exp().dtype, torch.float32)
            self.assertEqual(nn.functional.mse_loss(x, x).dtype, torch.float32)

    def test_the_widest_type_of_several(self) -> None:
        half = torch.ones(3, device="cuda", dtype=torch.float16)
        with torch.autocast("cuda"):
            joined = torch.cat([half, torch.ones(3, device="cuda")])
        self.assertEqual(joined.dtype, torch.float32)

    def test_gradients_have_the_parameters_type(self) -> None:
        model = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2)).cuda()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(torch.randn(3, 6, device="cuda")).float().square().mean()
        loss.backward()
        for parameter in model.parameters():
            assert parameter.grad is not None
            self.assertEqual(parameter.grad.dtype, torch.float32)
            self.assertTrue(parameter.grad.isfinite().all().item())

    def test_results_are_near_those_in_full_precision(self) -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)).cuda()
        x = torch.randn(5, 8, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            low = model(x)
        torch.testing.assert_close(low.float(), model(x), rtol=5e-2, atol=5e-2)

    def test_a_step_with_gradients_out_of_range_is_left_out(self) -> None:
        weight = nn.Parameter(torch.ones(2, device="cuda"))
        optimizer = torch.optim.SGD([weight], lr=0.5)
        scaler = torch.GradScaler("cuda", init_scale=4.0, growth_interval=1)
        for factor, expected, scale in ((float("inf"), 1.0, 2.0), (1.0, 0.5, 4.0)):
            optimizer.zero_grad()
            scaler.scale((weight * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            self.assertEqual(weight.tolist(), [expected] * 2)
            self.assertEqual(scaler.get_scale(), scale)

    def test_gradients_are_clipped_after_unscaling(self) -> None:
        weight = nn.Parameter(torch.ones(4, device="cuda"))
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scaler = torch.GradScaler("cuda", init_scale=1024.0)
        scaler.scale((weight * 3).sum()).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_([weight], 1.0)
        self.assertAlmostEqual(norm.item(), 6.0, places=4)
        scaler.step(optimizer)
        torch.testing.assert_close(weight.detach().cpu(), torch.full((4,), 0.5))


if __name__ == "__main__":
    absltest.main()
