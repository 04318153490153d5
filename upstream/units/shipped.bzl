"""The libraries that together own all of upstream's CUDA units."""

SHIPPED = [
    "//aten_cuda/attention:flash_attention",
    "//aten_cuda/attention:mem_eff_attention",
    "//aten_cuda/attention:transformers",
    "//aten_cuda/blas:linalg",
    "//aten_cuda/blas:wrappers",
    "//aten_cuda/core:kernels",
    "//aten_cuda/core:nvrtc_stub",
    "//aten_cuda/core:runtime",
    "//aten_cuda/cudnn:handles",
    "//aten_cuda/cudnn:operators",
    "//aten_cuda/native",
    "//c10_cuda",
    "//distributed:c10d",
    "//distributed:python",
    "//framework:runtime",
    "//framework/inductor:runtime",
    "//framework/jit",
    "//profiler",
    "//python/csrc:upstream",
]
