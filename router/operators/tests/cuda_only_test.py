"""Operators that PyTorch has no kernel for the CPU of: held against their definitions."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional

_EPS = 1e-5


class CudaOnlyTest(parameterized.TestCase):
    @parameterized.parameters(0.1, 0.3, 1.0)
    def test_fused_dropout(self, kept: float) -> None:
        ones = torch.full((4000,), 2.0, device="cuda")
        result, mask = torch._fused_dropout(ones, kept)
        self.assertEqual(mask.dtype, torch.uint8)
        self.assertAlmostEqual(mask.float().mean().item(), kept, delta=0.05)
        torch.testing.assert_close(result, 2.0 * mask / kept)
        torch.testing.assert_close(torch._masked_scale(ones, mask, 1 / kept), result)

    @parameterized.parameters((6, 3), (6, 3, 5), (6, 3, 4, 2))
    def test_batch_norm_of_parts(self, *shape: int) -> None:
        torch.manual_seed(0)
        whole = torch.randn(shape) * 3 + 1
        gradient, weight, bias = torch.randn(shape), torch.randn(3), torch.randn(3)
        running = [torch.zeros(3), torch.ones(3)]
        reference = whole.clone().requires_grad_()
        parameters = [weight.clone().requires_grad_(), bias.clone().requires_grad_()]
        wanted = functional.batch_norm(
            reference, running[0], running[1], parameters[0], parameters[1], True, 0.2, _EPS
        )
        wanted.backward(gradient)

        # Parts of different sizes, as processes have them.
        parts = [part.cuda() for part in whole.split([2, 4])]
        gradients = [part.cuda() for part in gradient.split([2, 4])]
        weight, bias = weight.cuda(), bias.cuda()
        stats = [torch.batch_norm_stats(part, _EPS) for part in parts]
        counts = torch.tensor([p.numel() / 3 for p in parts], device="cuda")
        found = [torch.zeros(3, device="cuda"), torch.ones(3, device="cuda")]
        mean, invstd = torch.batch_norm_gather_stats_with_counts(
            parts[0],
            torch.stack([mean for mean, _ in stats]),
            torch.stack([invstd for _, invstd in stats]),
            found[0],
            found[1],
            0.2,
            _EPS,
            counts,
        )
        for each, other in zip(found, running, strict=True):
            torch.testing.assert_close(each.cpu(), other)
        results = [torch.batch_norm_elemt(p, weight, bias, mean, invstd, _EPS) for p in parts]
        torch.testing.assert_close(torch.cat(results).cpu(), wanted.detach())

        reduced = [
            torch.batch_norm_backward_reduce(g, p, mean, invstd, weight, True, True, True)
            for g, p in zip(gradients, parts, strict=True)
        ]
        sums = [torch.stack(values).sum(0) for values in zip(*reduced, strict=True)]
        inputs = [
            torch.batch_norm_backward_elemt(
                g, p, mean, invstd, weight, sums[0], sums[1], counts.int()
            )
            for g, p in zip(gradients, parts, strict=True)
        ]
        assert reference.grad is not None
        torch.testing.assert_close(torch.cat(inputs).cpu(), reference.grad, atol=1e-5, rtol=1e-4)
        for each, parameter in zip(sums[2:], parameters, strict=True):
            assert parameter.grad is not None
            torch.testing.assert_close(each.cpu(), parameter.grad, atol=1e-5, rtol=1e-4)

    def test_batch_norm_of_half_precision(self) -> None:
        values = torch.randn(8, 3, 4, device="cuda").half()
        mean, invstd = torch.batch_norm_stats(values, _EPS)
        self.assertEqual(mean.dtype, torch.float32)
        result = torch.batch_norm_elemt(values, None, None, mean, invstd, _EPS)
        self.assertEqual(result.dtype, torch.float16)
        wanted = functional.batch_norm(values.float().cpu(), None, None, training=True)
        torch.testing.assert_close(result.float().cpu(), wanted, atol=2e-3, rtol=2e-3)
        none = torch.batch_norm_backward_reduce(
            values, values, mean, invstd, None, False, False, True
        )
        self.assertEqual([each is None for each in none], [True, True, True, False])

    def test_scaled_products(self) -> None:
        left, right = torch.randn(16, 32), torch.randn(32, 16)
        eight = [t.to(torch.float8_e4m3fn).cuda() for t in (left, right)]
        scales = [torch.tensor(2.0, device="cuda"), torch.tensor(0.5, device="cuda")]
        bias = torch.ones(16, device="cuda")
        found = torch._scaled_mm(
            eight[0], eight[1], scales[0], scales[1], bias=bias, out_dtype=torch.float32
        )
        wanted = (eight[0].float().cpu() * 2) @ (eight[1].float().cpu() * 0.5) + 1
        torch.testing.assert_close(found.cpu(), wanted)

    def test_assertions(self) -> None:
        torch._assert_async(torch.ones((), device="cuda"))
        with self.assertRaisesRegex(RuntimeError, "nonzero"):
            torch._assert_async(torch.zeros((), device="cuda"))

    def test_sleep_is_work_of_the_stream(self) -> None:
        stream = torch.cuda.Stream()
        tensor = torch.zeros(4, device="cuda")
        with torch.cuda.stream(stream):
            torch.cuda._sleep(500_000_000)
            event = stream.record_event()
            self.assertFalse(event.query())
            tensor.add_(1)  # comes after it
            self.assertTrue(event.query())
        with self.assertRaisesRegex(RuntimeError, "expected 'int'"):
            torch.cuda._sleep("long")
        torch.cuda._sleep(0)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.cuda._sleep(1000)
        graph.replay()
        torch.cuda.synchronize()
        self.assertEqual(tensor.sum().item(), 4)


if __name__ == "__main__":
    absltest.main()
