"""Streams: work of one is in order, and that of another when it waits."""

from __future__ import annotations

import threading

import torch
from absl.testing import absltest

from tests.conformance.training import topic


def count(tensor: torch.Tensor, times: int = 50) -> None:
    """Work of some length, whose result tells how much of it is done."""
    for _ in range(times):
        tensor += 1


class StreamsTest(topic.TopicTest):
    def test_a_block_makes_a_stream_current(self) -> None:
        usual = torch.cuda.current_stream()
        self.assertEqual(usual, torch.cuda.default_stream())
        stream = torch.cuda.Stream()
        self.assertNotEqual(stream, usual)
        with torch.cuda.stream(stream):
            self.assertEqual(torch.cuda.current_stream(), stream)
            with torch.cuda.stream(None):
                self.assertEqual(torch.cuda.current_stream(), stream)
        self.assertEqual(torch.cuda.current_stream(), usual)

    def test_two_are_two(self) -> None:
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        self.assertNotEqual(first.cuda_stream, second.cuda_stream)
        self.assertEqual(first.device, torch.device("cuda", 0))

    def test_priorities_are_taken(self) -> None:
        least, greatest = torch.cuda.current_stream().priority_range()
        self.assertGreaterEqual(least, greatest)
        for priority in (least, greatest):
            stream = torch.cuda.Stream(priority=priority)
            self.assertEqual(stream.priority, priority)
            with torch.cuda.stream(stream):
                self.assertEqual(torch.ones(5, device="cuda").sum().item(), 5)

    def test_work_is_in_order(self) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            tensor = torch.zeros(1000, device="cuda")
            for number in range(20):
                tensor.mul_(2).add_(number % 2)
        stream.synchronize()
        expected = 0
        for number in range(20):
            expected = expected * 2 + number % 2
        self.assertEqual(tensor.cpu().unique().tolist(), [expected])

    def test_a_query_is_true_once_all_is_done(self) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            count(torch.zeros(1000, device="cuda"))
        stream.synchronize()
        self.assertTrue(stream.query())

    def test_another_waits_for_a_stream(self) -> None:
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        with torch.cuda.stream(first):
            tensor = torch.zeros(100_000, device="cuda")
            count(tensor)
        second.wait_stream(first)
        with torch.cuda.stream(second):
            result = tensor * 2
        second.synchronize()
        self.assertEqual(result.cpu().unique().tolist(), [100])

    def test_a_chain_of_streams(self) -> None:
        streams = [torch.cuda.Stream() for _ in range(6)]
        tensor = torch.zeros(10_000, device="cuda")
        before = torch.cuda.current_stream()
        for stream in streams:
            stream.wait_event(before.record_event())
            with torch.cuda.stream(stream):
                count(tensor, 10)
            tensor.record_stream(stream)
            before = stream
        before.synchronize()
        self.assertEqual(tensor.cpu().unique().tolist(), [60])

    def test_streams_are_as_many_as_are_asked_for(self) -> None:
        results = []
        for number in range(100):
            with torch.cuda.stream(torch.cuda.Stream()):
                results.append(torch.full((10,), number, device="cuda") + 1)
        torch.cuda.synchronize()
        self.assertEqual([result[0].item() for result in results], list(range(1, 101)))

    def test_threads_with_streams_of_their_own(self) -> None:
        found: dict[int, float] = {}

        def work(number: int) -> None:
            with torch.cuda.stream(torch.cuda.Stream()):
                tensor = torch.full((100,), float(number), device="cuda")
                count(tensor)
                found[number] = tensor.sum().item()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual(found, {number: 100.0 * (number + 50) for number in range(6)})

    def test_a_stream_of_the_second_device(self) -> None:
        if torch.cuda.device_count() < 2:
            self.skipTest("needs two devices")
        stream = torch.cuda.Stream("cuda:1")
        with torch.cuda.stream(stream):
            self.assertEqual(torch.cuda.current_device(), 1)
            tensor = torch.ones(10, device="cuda") + 1
        self.assertEqual(torch.cuda.current_device(), 0)
        stream.synchronize()
        self.assertEqual(tensor.sum().item(), 20)


if __name__ == "__main__":
    absltest.main()
