"""Streams, events and the order of work on pu: CUDA's."""

from __future__ import annotations

import os

import torch
import torch_pu  # noqa: F401 - gives torch the device
from absl.testing import absltest

SIZE = 1 << 12


class StreamsTest(absltest.TestCase):
    def test_current_streams_are_one(self) -> None:
        stream = torch.pu.Stream()
        with torch.pu.stream(stream):
            self.assertEqual(torch.cuda.current_stream(), stream)
            current = torch.accelerator.current_stream()
            self.assertEqual(current.device.type, "pu")
            self.assertEqual(current.stream_id, stream.stream_id)
        self.assertNotEqual(torch.pu.current_stream(), stream)

    def test_generic_streams_and_events(self) -> None:
        stream = torch.Stream("pu")
        before, after = (torch.Event("pu", enable_timing=True) for _ in range(2))
        before.record(stream)
        after.record(stream)
        after.synchronize()
        self.assertGreaterEqual(before.elapsed_time(after), 0)
        self.assertTrue(stream.query())
        tensor = torch.ones(4, device="pu")
        tensor.record_stream(stream)

    def test_order_across_streams(self) -> None:
        stream = torch.pu.Stream()
        total = torch.zeros(SIZE, device="pu")
        for number in range(10):
            stream.wait_stream(torch.pu.current_stream())
            with torch.pu.stream(stream):
                part = torch.full((SIZE,), float(number), device="pu")
                total.add_(part)
            torch.pu.current_stream().wait_stream(stream)
            part.record_stream(torch.pu.current_stream())
            total.mul_(2)
        expected = 0.0
        for number in range(10):
            expected = (expected + number) * 2
        self.assertEqual(total.unique().tolist(), [expected])

    def test_backward_runs_on_the_stream_of_forward(self) -> None:
        seen = []

        class Spy(torch.autograd.Function):
            @staticmethod
            def forward(ctx: object, tensor: torch.Tensor) -> torch.Tensor:
                return tensor.clone()

            @staticmethod
            def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
                seen.append(torch.cuda.current_stream().stream_id)
                return gradient

        stream = torch.pu.Stream()
        weight = torch.ones(SIZE, device="pu", requires_grad=True)
        stream.wait_stream(torch.pu.current_stream())
        with torch.pu.stream(stream):
            loss = Spy.apply(weight * 2).sum()
        torch.pu.current_stream().wait_stream(stream)
        loss.backward()
        self.assertEqual(seen, [stream.stream_id])
        self.assertEqual(weight.grad.unique().tolist(), [2])  # type: ignore[union-attr]

    def test_graph(self) -> None:
        if os.environ["TORCH_CUDA_DEVICES"].startswith("fake"):
            self.skipTest("what the host computes cannot be captured")
        tensor = torch.ones(SIZE, device="pu")
        tensor.mul(2)
        graph = torch.pu.CUDAGraph()
        with torch.pu.graph(graph):
            double = tensor * 2
        tensor.fill_(3)
        graph.replay()
        self.assertEqual(double.unique().tolist(), [6])

    def test_cuda_s_tensors_beside(self) -> None:
        gradients = []
        for device in ("pu", "cuda"):
            weight = torch.full((SIZE,), 3.0, device=device, requires_grad=True)
            (weight * weight).sum().backward()
            gradients.append(weight.grad.unique().tolist())  # type: ignore[union-attr]
        self.assertEqual(gradients, [[6], [6]])


if __name__ == "__main__":
    absltest.main()
