"""torch.pu has all of torch.cuda, and takes the device's name everywhere."""

from __future__ import annotations

import importlib
import pkgutil
import warnings

import torch
import torch_pu
from absl.testing import absltest


def submodules() -> list[str]:
    return [
        module.name.removeprefix("torch.cuda.")
        for module in pkgutil.walk_packages(torch.cuda.__path__, "torch.cuda.")
    ]


class NamesTest(absltest.TestCase):
    def test_every_public_name_of_cuda(self) -> None:
        for name in dir(torch.cuda):
            if not name.startswith("__"):
                self.assertTrue(hasattr(torch.pu, name), name)
                self.assertIn(name, dir(torch.pu))

    def test_every_submodule(self) -> None:
        self.assertContainsSubset({"memory", "streams", "amp.grad_scaler"}, submodules())
        for name in submodules():
            if "sanitizer" in name:
                continue  # importing it turns it on
            original = importlib.import_module(f"torch.cuda.{name}")
            for other in ("pu", "pu1"):
                found = importlib.import_module(f"torch.{other}.{name}")
                for public in getattr(original, "__all__", ()):
                    self.assertTrue(hasattr(found, public), f"{name}.{public}")

    def test_classes_are_cuda_s(self) -> None:
        self.assertIs(torch.pu.Stream, torch.cuda.Stream)
        self.assertIs(torch.pu1, torch.pu)

    def test_backends(self) -> None:
        self.assertIs(torch.backends.pu.matmul, torch.backends.cuda.matmul)
        for name in torch.backends.cuda.__all__:
            self.assertTrue(hasattr(torch.backends.pu, name), name)

    def test_the_accelerator_is_pu(self) -> None:
        self.assertEqual(torch.accelerator.current_accelerator(), torch.device("pu"))
        self.assertEqual(torch.accelerator.device_count(), torch.cuda.device_count())

    def test_memory_is_pinned_for_both(self) -> None:
        pinned = torch.ones(2).pin_memory()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the argument is to go
            found = [pinned.is_pinned(device) for device in ("cuda", "pu")]
        self.assertEqual([pinned.is_pinned(), *found], [True] * 3)

    @absltest.skipUnless(hasattr(torch.accelerator, "memory_allocated"), "torch has none")
    def test_the_accelerator_s_memory_is_cuda_s(self) -> None:
        self.assertTrue(torch.accelerator.is_available())
        keep = torch.ones(1 << 10, device="pu:1")
        torch.pu.reset_peak_memory_stats(1)
        self.assertGreaterEqual(torch.accelerator.memory_allocated(1), keep.nbytes)
        for name in ("memory_allocated", "max_memory_allocated", "memory_reserved"):
            found = getattr(torch.accelerator, name)(1)
            self.assertEqual(found, getattr(torch.cuda, name)(1), name)
        del keep
        torch.accelerator.empty_cache()
        torch.accelerator.reset_peak_memory_stats(1)
        self.assertEqual(torch.cuda.max_memory_allocated(1), torch.cuda.memory_allocated(1))

    def test_functions_take_the_device(self) -> None:
        for device in ("pu:1", torch.device("pu", 1), 1):
            self.assertEqual(torch.pu.get_device_name(device), torch.cuda.get_device_name(1))
            torch.pu.synchronize(device)
        keep = torch.ones(1 << 10, device="pu:1")
        self.assertGreaterEqual(torch.pu.memory_allocated("pu:1"), keep.nbytes)
        self.assertEqual(torch.pu.memory_stats("pu:1"), torch.cuda.memory_stats(1))
        with torch.pu.device_of(keep):
            self.assertEqual(torch.pu.current_device(), 1)
        with torch.random.fork_rng([0], device_type="pu"):
            torch.rand(2, device="pu")


class AnnouncementTest(absltest.TestCase):
    def tearDown(self) -> None:
        torch_pu.announce(False)
        super().tearDown()

    def said(self) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.is_available()
            torch.cuda.is_available()
            torch.cuda.memory_allocated()
            torch.ones(2, device="cuda").cuda()
        for warning in caught:
            self.assertIs(warning.category, DeprecationWarning)
            self.assertEqual(warning.filename, __file__)
        return [str(warning.message) for warning in caught]

    def test_off_by_default(self) -> None:
        self.assertEqual(self.said(), [])

    def test_once_for_each_name(self) -> None:
        torch_pu.announce()
        said = self.said()
        self.assertLen(said, 2)
        self.assertIn("torch.pu.is_available", said[0])
        self.assertIn("torch.pu.memory_allocated", said[1])
        torch_pu.announce(False)
        self.assertEqual(self.said(), [])


if __name__ == "__main__":
    absltest.main()
