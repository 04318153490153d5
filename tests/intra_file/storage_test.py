"""CUDA storages: the CUDA halves of torch/csrc/Storage.cpp and StorageMethods.cpp."""

from __future__ import annotations

import torch
from absl.testing import absltest

from tests.intra_file import interpreter


class StorageTest(absltest.TestCase):
    def test_cpu_and_meta_storages_are_made_as_before(self) -> None:
        self.assertEqual(torch.UntypedStorage([1, 2, 3], device="cpu").tolist(), [1, 2, 3])
        self.assertEqual(torch.UntypedStorage(5).resize_(9).nbytes(), 9)
        self.assertEqual(torch.UntypedStorage(5, device="meta").device.type, "meta")

    def test_wrong_arguments_are_refused_as_before(self) -> None:
        code = """
            import torch
            calls = [
                lambda: torch.UntypedStorage(1, 2, 3),
                lambda: torch.UntypedStorage(5, device="cpu", allocator=1),
                lambda: torch.UntypedStorage(5, device=[]),
                lambda: torch.UntypedStorage(5, nothing=1, device="cuda"),
                lambda: torch.UntypedStorage(5, device="mkldnn"),
                lambda: torch._C.StorageBase(5),
                lambda: torch.UntypedStorage(5).resize_("9"),
            ]
            for call in calls:
                try:
                    call()
                except Exception as error:
                    print(type(error).__name__, str(error).splitlines()[0])
        """
        printed = interpreter.run_python(code)
        self.assertLen(printed.splitlines(), 7)
        self.assertEqual(printed, interpreter.run_python(code, plugin=False))

    def test_device_and_allocator_exclude_each_other(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "but not both"):
            torch.UntypedStorage(5, device="cuda", allocator=1)

    @absltest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_cuda_without_a_gpu(self) -> None:
        for size in (0, 5):
            with self.assertRaisesRegex(RuntimeError, interpreter.no_gpu_message()):
                torch.UntypedStorage(size, device="cuda")
        with self.assertRaisesRegex(RuntimeError, interpreter.no_gpu_message()):
            torch.UntypedStorage._new_shared(4, device="cuda")

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_storage_is_made(self) -> None:
        for storage, size in (
            (torch.UntypedStorage(device="cuda"), 0),
            (torch.UntypedStorage(5, device="cuda:0"), 5),
            (torch.UntypedStorage([1, 2, 3], device="cuda"), 3),
        ):
            self.assertEqual(storage.nbytes(), size)
            self.assertEqual(storage.device, torch.device("cuda:0"))
        self.assertEqual(torch.UntypedStorage([1, 2, 3], device="cuda").tolist(), [1, 2, 3])

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_storage_keeps_its_bytes_when_it_grows(self) -> None:
        storage = torch.UntypedStorage([1, 2, 3], device="cuda").resize_(1000)
        self.assertEqual(storage.nbytes(), 1000)
        self.assertEqual(storage[:3].tolist(), [1, 2, 3])
        self.assertEqual(storage.resize_(0).nbytes(), 0)
        with self.assertRaisesRegex(RuntimeError, "resize_ expects an int, but got str"):
            storage.resize_("9")


if __name__ == "__main__":
    absltest.main()
