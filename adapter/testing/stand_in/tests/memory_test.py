"""Memory of the stand-in: what the allocator says of it, and devices that are small, hidden, lost or not there."""

from __future__ import annotations

import torch
import torch_stand_in
from absl.testing import absltest

from tests.device_behaviour import programs

MiB = 1 << 20
START = "import torch, torch_stand_in\n"


class MemoryTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch_stand_in.empty_cache()
        torch_stand_in.reset_peak_memory_stats()
        self.before = torch_stand_in.memory_allocated()

    def test_figures(self) -> None:
        available, total = torch_stand_in.mem_get_info()
        tensor = torch.empty(MiB, dtype=torch.uint8, device="stand_in")
        self.assertEqual(torch_stand_in.memory_allocated(), self.before + MiB)
        self.assertEqual(torch_stand_in.mem_get_info(), (available - MiB, total))
        del tensor
        self.assertEqual(torch_stand_in.memory_allocated(), self.before)
        self.assertEqual(torch_stand_in.max_memory_allocated(), self.before + MiB)
        self.assertGreaterEqual(torch_stand_in.memory_reserved(), MiB)
        torch_stand_in.empty_cache()
        self.assertEqual(torch_stand_in.mem_get_info(), (available, total))
        self.assertIn("Allocated memory", torch_stand_in.memory_summary())
        nested = torch_stand_in.memory_stats_as_nested_dict()
        self.assertEqual(nested["allocated_bytes"]["all"]["current"], self.before)

    def test_nothing_stays_allocated(self) -> None:
        for _ in range(200):
            (torch.ones(64, device="stand_in") + 1).sum().item()
        self.assertEqual(torch_stand_in.memory_allocated(), self.before)

    def test_freed_memory_is_used_again(self) -> None:
        address = torch.empty(MiB, device="stand_in").data_ptr()
        self.assertEqual(torch.empty(MiB, device="stand_in").data_ptr(), address)

    def test_out_of_memory(self) -> None:
        with self.assertRaisesRegex(torch.OutOfMemoryError, "Tried to allocate 64 GiB"):
            torch.empty(64 << 30, dtype=torch.uint8, device="stand_in")
        self.assertEqual(torch.ones(2, device="stand_in").tolist(), [1, 1])

    def test_a_part_of_the_memory(self) -> None:
        torch_stand_in.set_per_process_memory_fraction(0.001, 1)
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(64 * MiB, dtype=torch.uint8, device="stand_in:1")
        torch_stand_in.set_per_process_memory_fraction(1.0, 1)
        torch.empty(64 * MiB, dtype=torch.uint8, device="stand_in:1")

    def test_raw_memory(self) -> None:
        address = torch_stand_in.caching_allocator_alloc(MiB)
        self.assertEqual(torch_stand_in.memory_allocated(), self.before + MiB)
        torch_stand_in.caching_allocator_delete(address)
        self.assertEqual(torch_stand_in.memory_allocated(), self.before)


class DevicesTest(absltest.TestCase):
    def test_the_cache_is_given_back_before_memory_is_out(self) -> None:
        text = programs.output(
            START
            + "torch.empty(6 << 20, dtype=torch.uint8, device='stand_in')\n"
            + "torch.empty(7 << 20, dtype=torch.uint8, device='stand_in')\n"
            + "print(torch_stand_in.memory_stats()['num_alloc_retries'])",
            TORCH_STAND_IN_DEVICE="memory=8M",
        )
        self.assertEqual(text, "1")

    def test_visible_devices(self) -> None:
        text = programs.output(
            START
            + "print(torch_stand_in.device_count(), torch.ones(1, device='stand_in:1').device)",
            TORCH_STAND_IN_DEVICE="count=4",
            STAND_IN_VISIBLE_DEVICES="3,1,9,0",
        )
        self.assertEqual(text, "2 stand_in:1")

    def test_no_device(self) -> None:
        text = programs.output(
            START
            + "print(torch_stand_in.is_available())\n"
            + "try: torch.ones(1, device='stand_in')\n"
            + "except RuntimeError as error: print(error)",
            STAND_IN_VISIBLE_DEVICES="",
        )
        self.assertStartsWith(text, "False\n")
        self.assertIn("no stand-in device is visible", text)

    def test_wrong_options(self) -> None:
        text = programs.output(
            START
            + "print(torch_stand_in.device_count())\n"
            + "try: torch_stand_in.init()\n"
            + "except torch_stand_in.StandInError as error: print(error)",
            TORCH_STAND_IN_DEVICE="colour=red",
        )
        self.assertStartsWith(text, "0\n")
        self.assertIn('option "colour=red" is none of', text)

    def test_a_lost_device(self) -> None:
        text = programs.output(
            START
            + "try:\n  for _ in range(9): torch.ones(1).to('stand_in')\n"
            + "except RuntimeError as error: print(error)",
            TORCH_STAND_IN_DEVICE="lost=3",
        )
        self.assertIn("the device is at fault (standErrorLaunchFailure)", text)

    def test_a_child_of_fork(self) -> None:
        text = programs.output(
            START
            + "import os\n"
            + "torch.ones(1, device='stand_in')\n"
            + "child = os.fork()\n"
            + "if child:\n  os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
            + "assert torch_stand_in._is_in_bad_fork()\n"
            + "try: torch_stand_in.init()\n"
            + "except RuntimeError as error: print(error, flush=True)\n"
            + "try: torch.ones(1, device='stand_in')\n"
            + "except RuntimeError as error: print(error, flush=True)\n"
            + "os._exit(0)"
        )
        self.assertIn("Cannot re-initialize the stand-in in forked subprocess", text)
        self.assertIn("was used before fork()", text)

    def test_another_backend_has_the_device_type(self) -> None:
        done = programs.run(
            "import torch\ntorch.utils.rename_privateuse1_backend('other')\nimport torch_stand_in"
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("found that it is 'other' in this process", done.stderr)


if __name__ == "__main__":
    absltest.main()
