"""Events: marks in streams that are asked, waited for and measured with."""

from __future__ import annotations

import torch
from absl.testing import absltest


class EventsTest(absltest.TestCase):
    def test_one_that_was_not_recorded_is_reached(self) -> None:
        event = torch.cuda.Event()
        self.assertTrue(event.query())
        event.synchronize()
        torch.cuda.current_stream().wait_event(event)

    def test_what_is_before_it_is_done(self) -> None:
        stream, event = torch.cuda.Stream(), torch.cuda.Event()
        host = torch.empty(100_000, pin_memory=True)
        with torch.cuda.stream(stream):
            tensor = torch.full((100_000,), 7.0, device="cuda")
            host.copy_(tensor, non_blocking=True)
            event.record()
        event.synchronize()
        self.assertTrue(event.query())
        self.assertEqual(host.unique().tolist(), [7])

    def test_a_stream_waits_for_the_mark_and_not_for_what_is_behind_it(self) -> None:
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        with torch.cuda.stream(first):
            tensor = torch.zeros(1000, device="cuda")
            tensor += 1
            event = first.record_event()
        second.wait_event(event)
        with torch.cuda.stream(second):
            result = tensor.clone()
            done = second.record_event()
        first.wait_event(done)
        with torch.cuda.stream(first):
            tensor += 1
        torch.cuda.synchronize()
        self.assertEqual(result.cpu().unique().tolist(), [1])
        self.assertEqual(tensor.cpu().unique().tolist(), [2])

    def test_times_go_forward(self) -> None:
        events = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
        tensor = torch.zeros(10_000, device="cuda")
        for event in events:
            for _ in range(20):
                tensor += 1
            event.record()
        torch.cuda.synchronize()
        times = [events[0].elapsed_time(event) for event in events]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-1], 0)
        self.assertLess(times[-1], 600_000)

    def test_times_need_events_that_take_them(self) -> None:
        first, second = torch.cuda.Event(), torch.cuda.Event()
        first.record()
        second.record()
        second.synchronize()
        with self.assertRaises((RuntimeError, ValueError)):
            first.elapsed_time(second)

    def test_one_is_recorded_again(self) -> None:
        event = torch.cuda.Event()
        tensor = torch.zeros(1000, device="cuda")
        for number in range(1, 20):
            tensor += 1
            event.record()
            event.synchronize()
            self.assertEqual(tensor[0].item(), number)

    def test_one_that_is_gone_still_holds_whoever_waits(self) -> None:
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        with torch.cuda.stream(first):
            tensor = torch.zeros(100_000, device="cuda")
            for _ in range(50):
                tensor += 1
            event = first.record_event()
        second.wait_event(event)
        del event
        with torch.cuda.stream(second):
            result = tensor.clone()
        second.synchronize()
        self.assertEqual(result.cpu().unique().tolist(), [50])

    def test_thousands_of_them(self) -> None:
        stream = torch.cuda.Stream()
        tensor = torch.zeros(10, device="cuda")
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            events = []
            for _ in range(2000):
                tensor += 1
                events.append(stream.record_event())
        for event in events:
            event.synchronize()
        self.assertTrue(all(event.query() for event in events))
        self.assertEqual(tensor[0].item(), 2000)


if __name__ == "__main__":
    absltest.main()
