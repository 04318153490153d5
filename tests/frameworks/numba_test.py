"""Numba of PyPI on the simulated GPU: a kernel with shared memory and atomics."""

from __future__ import annotations

import unittest

import numpy as np
from numba import cuda, float32


@cuda.jit
def _block_sums(x, sums):  # type: ignore[no-untyped-def]
    shared = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    place = cuda.grid(1)
    shared[thread] = x[place] if place < x.size else 0.0
    cuda.syncthreads()
    half = 32
    while half > 0:
        if thread < half:
            shared[thread] += shared[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        cuda.atomic.add(sums, 0, shared[0])


class NumbaTest(unittest.TestCase):
    def test_a_sum_over_blocks(self) -> None:
        x = np.random.default_rng(0).integers(-8, 9, 1000).astype(np.float32)
        sums = cuda.to_device(np.zeros(1, np.float32))
        _block_sums[16, 64](cuda.to_device(x), sums)
        self.assertEqual(sums.copy_to_host()[0], x.sum())

    def test_the_device_is_ours(self) -> None:
        self.assertIn("cudasim", str(cuda.get_current_device().name))


if __name__ == "__main__":
    unittest.main()
