"""Devices: their number, names and figures, and which one is current."""

from __future__ import annotations

import threading

import torch
from absl.testing import absltest

from tests.conformance.training import topic


class DeviceTest(topic.TopicTest):
    def test_there_are_devices(self) -> None:
        self.assertTrue(torch.cuda.is_available())
        self.assertGreaterEqual(torch.cuda.device_count(), 1)
        accelerator = torch.accelerator.current_accelerator()
        self.assertEqual(accelerator and accelerator.type, "cuda")

    def test_each_has_a_name_and_memory(self) -> None:
        for number in range(torch.cuda.device_count()):
            properties = torch.cuda.get_device_properties(number)
            self.assertNotEmpty(properties.name)
            self.assertEqual(torch.cuda.get_device_name(number), properties.name)
            self.assertGreater(properties.total_memory, 0)
            free, total = torch.cuda.mem_get_info(number)
            self.assertBetween(free, 1, total)

    def test_figures_let_programs_divide_work(self) -> None:
        properties = torch.cuda.get_device_properties(0)
        self.assertGreater(properties.multi_processor_count, 0)
        self.assertGreater(properties.warp_size, 0)
        self.assertGreater(torch.cuda.get_device_capability(0), (0, 0))

    def test_tensors_know_their_device(self) -> None:
        for number in range(torch.cuda.device_count()):
            for device in (number, f"cuda:{number}", torch.device("cuda", number)):
                tensor = torch.ones(3, device=device)
                self.assertEqual(tensor.device, torch.device("cuda", number))
                self.assertTrue(tensor.is_cuda)
        self.assertEqual(torch.ones(3).cuda().get_device(), torch.cuda.current_device())

    def test_a_number_that_is_not_there(self) -> None:
        number = torch.cuda.device_count()
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.ones(3, device=f"cuda:{number}")
        self.assertEqual(torch.ones(3, device="cuda").sum().item(), 3)

    def test_a_block_gives_the_device_back(self) -> None:
        before = torch.cuda.current_device()
        last = torch.cuda.device_count() - 1
        with torch.cuda.device(last):
            self.assertEqual(torch.cuda.current_device(), last)
            self.assertEqual(torch.ones(1, device="cuda").get_device(), last)
            with self.assertRaises(ZeroDivisionError), torch.cuda.device(before):
                raise ZeroDivisionError
            self.assertEqual(torch.cuda.current_device(), last)
        self.assertEqual(torch.cuda.current_device(), before)

    def test_each_thread_has_a_device_of_its_own(self) -> None:
        last = torch.cuda.device_count() - 1
        torch.cuda.set_device(last)
        self.addCleanup(torch.cuda.set_device, 0)
        found = []
        thread = threading.Thread(target=lambda: found.append(torch.cuda.current_device()))
        thread.start()
        thread.join(60)
        self.assertEqual(found, [0])
        self.assertEqual(torch.cuda.current_device(), last)

    def test_all_can_be_waited_for(self) -> None:
        for number in range(torch.cuda.device_count()):
            tensor = torch.zeros(1000, device=f"cuda:{number}")
            for _ in range(10):
                tensor += 1
            torch.cuda.synchronize(number)
            self.assertEqual(tensor.sum().item(), 10000)

    def test_copies_between_two(self) -> None:
        if torch.cuda.device_count() < 2:
            self.skipTest("needs two devices")
        values = torch.randn(33, 7)
        for source, target in (("cuda:0", "cuda:1"), ("cuda:1", "cuda:0")):
            there = values.to(source)
            for part in (there, there.t(), there[::3, 2:], there.double()):
                moved = part.to(target)
                self.assertEqual(moved.device, torch.device(target))
                torch.testing.assert_close(moved.cpu(), part.cpu(), rtol=0, atol=0)


if __name__ == "__main__":
    absltest.main()
