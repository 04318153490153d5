"""A device whose memory the host does not see: what the CPU's kernels do on copies is the memory's."""

from __future__ import annotations

import functools
import threading

import torch
import torch_cuda
from absl.testing import absltest

_HIDDEN = 1 << 54  # a bit of all of the device's addresses, where nothing is mapped


class HiddenMemoryTest(absltest.TestCase):
    def test_the_host_does_not_see_it(self) -> None:
        tensor = torch.ones(3, device="cuda")
        self.assertTrue(tensor.data_ptr() & _HIDDEN)
        self.assertEqual(torch_cuda.served_by("aten::add.Tensor", 0), "host")

    def test_only_what_a_tensor_reaches_is_written(self) -> None:
        whole = torch.zeros(1000, device="cuda")
        behind = whole[500:]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(20):
                behind.add_(1)
        for _ in range(20):
            whole[:500].add_(2)
        torch.cuda.synchronize()
        self.assertEqual(whole.cpu().tolist(), [40.0] * 500 + [20.0] * 500)

    def test_threads_that_write_between_each_others_elements(self) -> None:
        whole = torch.zeros(400, device="cuda")
        torch.cuda.synchronize()

        def add(number: int, *, by_index: bool) -> None:
            with torch.cuda.stream(torch.cuda.Stream()):
                rows = torch.arange(number, 400, 4, device="cuda")
                for _ in range(100):
                    if by_index:
                        whole.index_add_(0, rows, torch.ones(100, device="cuda"))
                    else:
                        whole[number::4].add_(1)
                torch.cuda.current_stream().synchronize()

        for by_index in (False, True):
            whole.zero_()
            torch.cuda.synchronize()
            threads = [
                threading.Thread(target=functools.partial(add, number, by_index=by_index))
                for number in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            torch.cuda.synchronize()
            self.assertEqual(whole.tolist(), [100.0] * 400)

    def test_streams_that_write_between_each_others_elements(self) -> None:
        whole = torch.zeros(6, 5, 4, device="cuda")
        torch.cuda.synchronize()
        streams = [torch.cuda.Stream() for _ in range(2)]
        for step in range(1000):
            with torch.cuda.stream(streams[step % 2]):
                whole[:, step % 2 :: 2, step % 4].add_(1)
                whole.transpose(0, 2)[step % 4, :, step % 2 :: 2].add_(1)
        torch.cuda.synchronize()
        wanted = torch.zeros(6, 5, 4)
        for step in range(1000):
            wanted[:, step % 2 :: 2, step % 4].add_(1)
            wanted.transpose(0, 2)[step % 4, :, step % 2 :: 2].add_(1)
        self.assertEqual(whole.tolist(), wanted.tolist())

    def test_a_result_that_becomes_larger_within_its_storage(self) -> None:
        whole = torch.full((10,), 7.0, device="cuda")
        part = whole[2:4]
        torch.add(torch.arange(5.0, device="cuda"), 1, out=part)
        self.assertEqual(whole.tolist(), [7, 7, 1, 2, 3, 4, 5, 7, 7, 7])

    def test_what_no_tensor_reaches_stays_where_memory_grows(self) -> None:
        whole = torch.arange(10.0, device="cuda")
        part = whole[4:6]
        torch.add(torch.ones(20, device="cuda"), 1, out=part)
        self.assertEqual(part.tolist(), [2.0] * 20)
        self.assertEqual(whole.tolist(), [0.0, 1.0, 2.0, 3.0, *[2.0] * 6])

    def test_two_tensors_of_one_storage_in_one_call(self) -> None:
        whole = torch.arange(8.0, device="cuda")
        torch.add(whole[:2], whole[6:], out=whole[2:4])
        self.assertEqual(whole.tolist(), [0, 1, 6, 8, 4, 5, 6, 7])
        torch._foreach_add_([whole[:2], whole[1:3]], 1.0)
        self.assertEqual(whole.tolist(), [1, 3, 7, 8, 4, 5, 6, 7])

    def test_copies_on_write(self) -> None:
        first = torch.arange(4.0, device="cuda")
        second = torch._lazy_clone(first)
        second.add_(1)
        self.assertEqual(first.tolist(), [0, 1, 2, 3])
        self.assertEqual(second.tolist(), [1, 2, 3, 4])

    def test_a_graph_reads_and_writes_at_each_replay(self) -> None:
        whole = torch.arange(6.0, device="cuda")
        weights = torch.ones(6, 6, device="cuda")
        out = torch.empty(0, device="cuda")
        torch.mm(weights, weights)  # before the capture
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            whole[2:4].mul_(3)
            product = weights @ whole
            torch.add(product, 1, out=out)
        for step in range(3):
            whole.fill_(step)
            whole[0] = 10
            graph.replay()
            torch.cuda.synchronize()
            wanted = 10 + 3 * step + 2 * 3 * step
            self.assertEqual(whole.tolist(), [10, step, 3 * step, 3 * step, step, step])
            self.assertEqual(product.tolist(), [wanted] * 6)
            self.assertEqual(out.tolist(), [wanted + 1] * 6)

    def test_memory_goes_back(self) -> None:
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        tensor = torch.randn(1000, device="cuda")
        for _ in range(10):
            tensor = torch.nn.functional.softmax(tensor @ torch.eye(1000, device="cuda"), 0)
        del tensor
        self.assertEqual(torch.cuda.memory_allocated(), before)


if __name__ == "__main__":
    absltest.main()
