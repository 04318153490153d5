"""The end of a process waits for threads of autograd, and for no others."""

from __future__ import annotations

import hashlib
import pathlib
import threading

from absl.testing import absltest
from torch_cuda_runtime import _autograd_threads

_BLOCK = bytes(1 << 27)  # a hash of it takes a good part of a second


class _Hashing:
    """A thread that computes outside of the interpreter, as autograd's do."""

    def __init__(self, name: bytes) -> None:
        self._begun = threading.Event()
        self.ended = False
        self._thread = threading.Thread(target=self._hash, args=(name,))
        self._thread.start()
        self._begun.wait()

    def _hash(self, name: bytes) -> None:
        # The kernel's name of a thread, which is not Python's.
        pathlib.Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_bytes(name)
        self._begun.set()
        hashlib.sha512(_BLOCK).digest()
        self.ended = True

    def join(self) -> None:
        self._thread.join()


class AutogradThreadsTest(absltest.TestCase):
    def test_a_thread_of_autograd_ends_its_work_first(self) -> None:
        work = _Hashing(b"pt_autograd_0")
        self.addCleanup(work.join)
        _autograd_threads.wait_until_idle(limit=600)
        self.assertTrue(work.ended)

    def test_other_threads_go_on(self) -> None:
        work = _Hashing(b"caf\xc3")  # a name may be cut anywhere
        self.addCleanup(work.join)
        _autograd_threads.wait_until_idle(limit=600)
        self.assertFalse(work.ended)

    def test_the_wait_has_a_limit(self) -> None:
        work = _Hashing(b"pt_autograd_1")
        self.addCleanup(work.join)
        _autograd_threads.wait_until_idle(limit=0)
        self.assertFalse(work.ended)


if __name__ == "__main__":
    absltest.main()
