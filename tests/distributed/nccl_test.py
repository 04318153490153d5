"""`torch.cuda.nccl`: collectives among the devices of one process."""

from __future__ import annotations

import os

os.environ["CUDASIM_DEVICES"] = "2"
os.environ["CUDASIM_MEMORY"] = "1G"

import torch
from absl.testing import absltest, parameterized
from torch.cuda import nccl

TYPES = (torch.float32, torch.float64, torch.float16, torch.int32, torch.int64, torch.uint8)


def on_both(count: int, dtype: torch.dtype) -> list[torch.Tensor]:
    return [torch.arange(count).add(device).to(dtype).to(f"cuda:{device}") for device in range(2)]


class NcclTest(parameterized.TestCase):
    def test_version_is_that_of_the_library(self) -> None:
        self.assertGreaterEqual(nccl.version()[:2], (2, 22))
        self.assertLen(nccl.unique_id(), 128)
        self.assertTrue(nccl.is_available([torch.zeros(1, device="cuda")]))
        self.assertFalse(nccl.is_available([torch.zeros(1)]))

    @parameterized.parameters(*TYPES)
    def test_all_reduce(self, dtype: torch.dtype) -> None:
        tensors = on_both(77, dtype)
        expected = tensors[0].cpu() + tensors[1].cpu()
        nccl.all_reduce(tensors)
        for tensor in tensors:
            self.assertTrue(torch.equal(tensor.cpu(), expected))

    def test_reduce(self) -> None:
        tensors = on_both(5, torch.float32)
        output = torch.zeros(5, device="cuda:1")
        nccl.reduce(tensors, output=output, root=1)
        self.assertEqual(output.tolist(), [1.0, 3.0, 5.0, 7.0, 9.0])

    def test_broadcast(self) -> None:
        tensors = on_both(9, torch.float32)
        nccl.broadcast(tensors)
        self.assertEqual(tensors[1].tolist(), [float(number) for number in range(9)])

    def test_all_gather(self) -> None:
        tensors = on_both(3, torch.float32)
        outputs = [torch.zeros(6, device=tensor.device) for tensor in tensors]
        nccl.all_gather(tensors, outputs)
        for output in outputs:
            self.assertEqual(output.tolist(), [0.0, 1.0, 2.0, 1.0, 2.0, 3.0])

    def test_reduce_scatter(self) -> None:
        tensors = on_both(6, torch.float32)
        outputs = [torch.zeros(3, device=tensor.device) for tensor in tensors]
        nccl.reduce_scatter(tensors, outputs)
        self.assertEqual(
            [output.tolist() for output in outputs], [[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]
        )

    def test_on_streams_of_one_s_own(self) -> None:
        tensors = on_both(50, torch.float32)
        streams = [torch.cuda.Stream(device) for device in range(2)]
        for device, stream in enumerate(streams):
            stream.wait_stream(torch.cuda.current_stream(device))
        nccl.all_reduce(tensors, streams=streams)
        for stream in streams:
            stream.synchronize()
        self.assertEqual(tensors[1].tolist(), [2.0 * number + 1 for number in range(50)])
        with self.assertRaises(TypeError):
            nccl.all_reduce(tensors, streams=[streams[0], 1])

    def test_two_tensors_on_one_device_are_refused(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "unique devices"):
            nccl.all_reduce([torch.zeros(2, device="cuda:0"), torch.zeros(2, device="cuda:0")])


if __name__ == "__main__":
    absltest.main()
