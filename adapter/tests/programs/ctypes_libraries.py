"""CUDA's runtime through ctypes."""

import ctypes

import torch

torch.zeros(1, device="cuda")
runtime = ctypes.CDLL("libcudart.so.12")
pointer = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1024)) == 0
assert pointer.value
values = (ctypes.c_float * 4)(1, 2, 3, 4)
back = (ctypes.c_float * 4)()
# Host to device, and device to host.
assert runtime.cudaMemcpy(pointer, values, ctypes.c_size_t(16), 1) == 0
assert runtime.cudaMemcpy(back, pointer, ctypes.c_size_t(16), 2) == 0
assert list(back) == [1, 2, 3, 4]
count = ctypes.c_int()
assert runtime.cudaGetDeviceCount(ctypes.byref(count)) == 0
assert count.value == torch.cuda.device_count()
assert runtime.cudaFree(pointer) == 0
try:
    runtime.cudaNoSuchFunction
except AttributeError:
    pass
else:
    raise AssertionError("a function that nobody has")
