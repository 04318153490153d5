"""Two devices in one process, each with its own memory, streams and random numbers."""

from __future__ import annotations

import os
import unittest

# Read when the device is first used, so it has to be there before that.
os.environ["CUDASIM_DEVICES"] = "2"
os.environ["CUDASIM_MEMORY"] = "1G"

import torch
from absl.testing import absltest, parameterized

from tests.device_behaviour import programs

FIRST = torch.device("cuda", 0)
SECOND = torch.device("cuda", 1)
MEBIBYTE = 1 << 20


@unittest.skipUnless(
    programs.IS_SIMULATED or torch.cuda.device_count() >= 2, "this machine has one GPU"
)
class SeveralDevicesTest(parameterized.TestCase):
    def test_both_are_there(self) -> None:
        self.assertGreaterEqual(torch.cuda.device_count(), 2)
        self.assertIn("device='cuda:1'", repr(torch.ones(1, device=SECOND)))

    def test_a_third_is_not(self) -> None:
        absent = torch.cuda.device_count()
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.ones(1, device=f"cuda:{absent}")
        self.assertEqual(torch.ones(1, device=SECOND).item(), 1)

    def test_work_runs_where_its_operands_are(self) -> None:
        left = torch.randn(17, 33)
        right = torch.randn(33, 5)
        product = left.to(SECOND) @ right.to(SECOND)
        self.assertEqual(product.device, SECOND)
        torch.testing.assert_close(product.cpu(), left @ right)
        torch.testing.assert_close((left.to(SECOND).sum(1) * 2).cpu(), left.sum(1) * 2)

    def test_a_context_chooses_the_device_and_goes_back(self) -> None:
        self.assertEqual(torch.cuda.current_device(), 0)
        with torch.cuda.device(1):
            self.assertEqual(torch.cuda.current_device(), 1)
            self.assertEqual(torch.zeros(1, device="cuda").device, SECOND)
            with torch.cuda.device(FIRST):
                self.assertEqual(torch.zeros(1, device="cuda").device, FIRST)
            self.assertEqual(torch.cuda.current_device(), 1)
        self.assertEqual(torch.cuda.current_device(), 0)

    def test_a_failure_in_a_context_goes_back_as_well(self) -> None:
        with self.assertRaises(ZeroDivisionError), torch.cuda.device(1):
            raise ZeroDivisionError
        self.assertEqual(torch.cuda.current_device(), 0)

    @parameterized.parameters((FIRST, SECOND), (SECOND, FIRST))
    def test_copies_between_them(self, source: torch.device, target: torch.device) -> None:
        values = torch.randn(300, 70)
        there = values.to(source)
        torch.testing.assert_close(there.to(target).cpu(), values)
        # Not contiguous, and into another type.
        torch.testing.assert_close(there.t()[::3].to(target).cpu(), values.t()[::3])
        torch.testing.assert_close(there.to(target, torch.float64).cpu(), values.to(torch.float64))
        place = torch.zeros(70, 300, device=target)
        place.t().copy_(there)
        torch.testing.assert_close(place.cpu(), values.t())

    def test_a_copy_waits_for_the_work_of_its_source(self) -> None:
        values = torch.zeros(1000, device=FIRST)
        for _ in range(50):
            values += 1
        copy = values.to(SECOND, non_blocking=True)
        values += 1
        self.assertEqual(copy.cpu().unique().tolist(), [50])

    def test_operands_on_different_devices_are_refused(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "Expected all tensors to be on the same device"):
            torch.ones(3, device=FIRST) + torch.ones(3, device=SECOND)

    @unittest.skipUnless(programs.IS_SIMULATED, "not every pair of GPUs can")
    def test_each_can_access_the_other(self) -> None:
        self.assertTrue(torch.cuda.can_device_access_peer(0, 1))
        self.assertTrue(torch.cuda.can_device_access_peer(1, 0))
        self.assertFalse(torch.cuda.can_device_access_peer(0, 0))

    def test_each_counts_its_own_memory(self) -> None:
        torch.cuda.synchronize()
        before = [torch.cuda.memory_allocated(device) for device in (0, 1)]
        free = [torch.cuda.mem_get_info(device)[0] for device in (0, 1)]
        held = torch.empty(64 * MEBIBYTE, dtype=torch.uint8, device=SECOND)
        self.assertEqual(torch.cuda.memory_allocated(0), before[0])
        self.assertEqual(torch.cuda.memory_allocated(1), before[1] + held.nbytes)
        if programs.IS_SIMULATED:
            self.assertEqual(torch.cuda.mem_get_info(0)[0], free[0])
            self.assertEqual(torch.cuda.mem_get_info(1)[0], free[1] - held.nbytes)

    @unittest.skipUnless(programs.IS_SIMULATED, "the size is the simulated device's")
    def test_a_full_device_leaves_the_other_empty(self) -> None:
        held = torch.empty(700 * MEBIBYTE, dtype=torch.uint8, device=FIRST)
        with self.assertRaisesRegex(torch.OutOfMemoryError, "GPU 0"):
            torch.empty_like(held)
        self.assertEqual(torch.empty_like(held, device=SECOND).device, SECOND)
        del held
        torch.cuda.empty_cache()

    def test_each_draws_its_own_random_numbers(self) -> None:
        torch.cuda.manual_seed_all(5)
        first = torch.rand(100, device=FIRST)
        torch.rand(100, device=FIRST)
        self.assertEqual(torch.rand(100, device=SECOND).tolist(), first.tolist())
        self.assertNotEqual(torch.rand(100, device=SECOND).tolist(), first.tolist())

    def test_an_event_orders_streams_of_different_devices(self) -> None:
        stream = torch.cuda.Stream(device=SECOND)
        source = torch.zeros(10_000, device=FIRST)
        place = torch.empty(10_000, device=SECOND)
        stream.wait_stream(torch.cuda.current_stream(SECOND))
        for _ in range(20):
            source += 1
        done = torch.cuda.Event()
        done.record(torch.cuda.current_stream(FIRST))
        with torch.cuda.stream(stream):
            stream.wait_event(done)
            place.copy_(source)
        stream.synchronize()
        self.assertEqual(place.unique().tolist(), [20])

    def test_no_time_passes_between_events_of_different_devices(self) -> None:
        events = []
        for device in (FIRST, SECOND):
            with torch.cuda.device(device):
                events.append(torch.cuda.Event(enable_timing=True))
                events[-1].record()
                events[-1].synchronize()
        with self.assertRaisesRegex(RuntimeError, "invalid resource handle"):
            events[0].elapsed_time(events[1])

    def test_a_model_trains_on_the_second(self) -> None:
        model = torch.nn.Linear(4, 1).to(SECOND)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        inputs = torch.randn(64, 4, device=SECOND)
        wanted = inputs.sum(1, keepdim=True)
        losses = []
        for _ in range(30):
            loss = (model(inputs) - wanted).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0] / 10)
        self.assertEqual(torch.cuda.current_device(), 0)


if __name__ == "__main__":
    absltest.main()
