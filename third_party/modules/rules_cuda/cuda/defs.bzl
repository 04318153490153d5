"""Public rules: the part of rules_cuda's documented API that this project uses."""

load("//cuda/private:cuda_library.bzl", _cuda_library = "cuda_library")
load("//cuda/private:providers.bzl", _CudaArchsInfo = "CudaArchsInfo")

cuda_library = _cuda_library
CudaArchsInfo = _CudaArchsInfo
