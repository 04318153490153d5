"""Adds 1 to each number of an array on the simulated GPU, by the driver's API, without PyTorch."""

import ctypes
import os

import torch_cuda_runtime

PTX = b"""
.version 7.8
.target sm_80
.address_size 64
.visible .entry increment(.param .u64 numbers) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<3>;
  ld.param.u64 %rd1, [numbers];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}
"""
COUNT = 32


def check(status: int) -> None:
    """Ends the program at an error of CUDA's."""
    if status:
        raise SystemExit(f"CUDA's error {status}")


def main() -> None:
    """Runs the kernel and holds the numbers against Python's."""
    os.environ.update(torch_cuda_runtime.environment("sim"))
    libraries = [folder / "libcuda.so.1" for folder in torch_cuda_runtime.library_folders(12)]
    driver = ctypes.CDLL(str(next(library for library in libraries if library.exists())))
    context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
    check(driver.cuInit(0))
    check(driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
    check(driver.cuModuleLoadData(ctypes.byref(module), PTX))
    check(driver.cuModuleGetFunction(ctypes.byref(function), module, b"increment"))
    numbers = (ctypes.c_uint * COUNT)(*range(COUNT))
    size = ctypes.c_size_t(ctypes.sizeof(numbers))
    check(driver.cuMemAlloc_v2(ctypes.byref(memory), size))
    check(driver.cuMemcpyHtoD_v2(memory, numbers, size))
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    check(driver.cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, None, arguments, None))
    check(driver.cuMemcpyDtoH_v2(numbers, memory, size))
    if list(numbers) != list(range(1, COUNT + 1)):
        raise SystemExit(f"wrong numbers: {list(numbers)}")
    name = ctypes.create_string_buffer(100)
    check(driver.cuDeviceGetName(name, len(name), 0))
    print(f"a kernel ran on {name.value.decode()}, installed by pip: the numbers are right")


main()
