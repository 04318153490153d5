"""A launch beyond the limits of the device is refused, and the device goes on."""

from __future__ import annotations

import ctypes
from typing import ClassVar

import torch
from absl.testing import absltest, parameterized

INVALID_VALUE = 1

KERNEL = b"""
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 scratch[];
.visible .entry write(.param .u64 place) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [place];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 77;
  st.global.u32 [%rd2], %r1;
  ret;
}
"""


class LaunchLimitsTest(parameterized.TestCase):
    driver: ClassVar[ctypes.CDLL]
    kernel: ClassVar[ctypes.c_void_p]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        torch.ones(1, device="cuda")
        cls.driver = ctypes.CDLL("libcuda.so.1")
        module = ctypes.c_void_p()
        cls.kernel = ctypes.c_void_p()
        status = cls.driver.cuModuleLoadData(ctypes.byref(module), KERNEL)
        status = status or cls.driver.cuModuleGetFunction(
            ctypes.byref(cls.kernel), module, b"write"
        )
        if status != 0:
            raise AssertionError(f"the kernel could not be loaded: CUDA error {status}")

    def launch(
        self,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (1, 1, 1),
        shared_bytes: int = 0,
    ) -> tuple[int, int]:
        """Launches a kernel that stores 77; returns the driver's status and what is there then."""
        place = torch.zeros(1, dtype=torch.int32, device="cuda")
        argument = ctypes.c_void_p(place.data_ptr())
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        status = self.driver.cuLaunchKernel(
            self.kernel, *grid, *block, shared_bytes, None, arguments, None
        )
        torch.cuda.synchronize()
        return status, int(place.item())

    @parameterized.named_parameters(
        ("threads", {"block": (1024, 1, 1)}),
        ("threads_in_three_dimensions", {"block": (4, 4, 64)}),
        ("blocks", {"grid": (70_000, 1, 1)}),
        ("shared_memory", {"shared_bytes": 48 << 10}),
    )
    def test_at_the_limit_it_runs(self, sizes: dict[str, int]) -> None:
        self.assertEqual(self.launch(**sizes), (0, 77))  # type: ignore[arg-type]

    @parameterized.named_parameters(
        ("too_many_threads", {"block": (1025, 1, 1)}),
        ("too_many_threads_in_all", {"block": (64, 17, 1)}),
        ("too_many_in_z", {"block": (1, 1, 65)}),
        ("no_threads", {"block": (0, 1, 1)}),
        ("no_blocks", {"grid": (1, 0, 1)}),
        ("too_many_blocks_in_y", {"grid": (1, 65_536, 1)}),
        ("too_much_shared_memory", {"shared_bytes": (48 << 10) + 1}),
    )
    def test_beyond_it_is_refused(self, sizes: dict[str, int]) -> None:
        self.assertEqual(self.launch(**sizes), (INVALID_VALUE, 0))  # type: ignore[arg-type]
        self.assertEqual(self.launch(), (0, 77), "and the next launch works")


if __name__ == "__main__":
    absltest.main()
