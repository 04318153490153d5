"""CUDA storages between processes: the CUDA half of torch/csrc/StorageSharing.cpp."""

from __future__ import annotations

import pathlib
import struct
import tempfile

import torch
from absl.testing import absltest

from tests.intra_file import interpreter

# at::RefcountedMapAllocator's file: a reference count in the first 64 bytes, then the data, which
# is 10000 counters of 8 bytes here (torch/csrc/CudaIPCTypes.h).
_HEADER_BYTES = 64
_COUNTERS = 10000


class StorageSharingTest(absltest.TestCase):
    def test_storage_of_another_device_is_not_shared_as_cuda(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "_share_cuda_: only available on CUDA"):
            torch.UntypedStorage(5)._share_cuda_()

    def test_received_tuple_is_checked(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "tuple of 8 items expected"):
            torch.UntypedStorage._new_shared_cuda(0)
        with self.assertRaisesRegex(
            TypeError, "_new_shared in CUDA mode received an invalid combination of arguments"
        ):
            torch.UntypedStorage._new_shared_cuda(0, "", 1, 0, b"", 0, b"", True)

    def test_counter_tuple_is_checked(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "tuple of 2 items expected"):
            torch.UntypedStorage._release_ipc_counter_cuda(b"")
        with self.assertRaisesRegex(
            TypeError, "_release_ipc_counter in CUDA mode received an invalid combination"
        ):
            torch.UntypedStorage._release_ipc_counter_cuda("", 0)

    def test_releasing_counts_the_senders_counter_down(self) -> None:
        with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="torch_cuda_test_") as file:
            file.write(struct.pack("i", 1).ljust(_HEADER_BYTES, b"\0"))
            file.write(struct.pack("q", 3) * _COUNTERS)
            file.flush()
            name = b"/" + pathlib.Path(file.name).name.encode()
            torch.UntypedStorage._release_ipc_counter_cuda(name, 5)
            counters = struct.unpack_from(
                "10q", pathlib.Path(file.name).read_bytes(), _HEADER_BYTES
            )
        self.assertEqual(counters, (3, 3, 3, 3, 3, 2, 3, 3, 3, 3))

    def test_sender_that_has_ended_is_no_error(self) -> None:
        torch.UntypedStorage._release_ipc_counter_cuda(b"/torch_cuda_test_nobody", 0)

    @absltest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_receiving_without_a_gpu(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "CUDA"):
            torch.UntypedStorage._new_shared_cuda(
                0, b"\0" * 64, 4, 0, b"/nobody", 0, b"\0" * 64, False
            )

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_empty_storage_travels_without_memory(self) -> None:
        self.assertEqual(
            torch.UntypedStorage(0, device="cuda")._share_cuda_(),
            (0, None, 0, 0, None, 0, None, None),
        )

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_other_process_sees_the_same_memory(self) -> None:
        printed = interpreter.run_python(
            """
            import torch
            import torch.multiprocessing as mp

            def receive(queue, done):
                tensor = queue.get()
                tensor.add_(1)
                torch.cuda.synchronize()
                done.set()

            if __name__ == "__main__":
                # A child that is spawned imports this program, which has no file: fork from a
                # process that has not touched CUDA yet.
                context = mp.get_context("fork")
                queue, done = context.Queue(), context.Event()
                child = context.Process(target=receive, args=(queue, done))
                child.start()
                tensor = torch.arange(3, device="cuda")
                queue.put(tensor)
                assert done.wait(60)
                child.join()
                print(tensor.tolist())
            """
        )
        self.assertEqual(printed, "[1, 2, 3]")


if __name__ == "__main__":
    absltest.main()
