"""In which order upstream links libtorch_cuda, as read by a person from its CMake files.

The build takes the order from a run of these files (//upstream/source:layout.py); this is the answer that it is held
against.
"""

load(
    "@pytorch//:build_variables.bzl",
    "aten_cuda_cu_source_list",
    "aten_cuda_cu_with_sort_by_key_source_list",
    "aten_cuda_with_sort_by_key_source_list",
    "libtorch_cuda_core_sources",
)
load("@pytorch//:units.bzl", "UNITS")

# aten/src/ATen/CMakeLists.txt: ATen_CUDA_CPP_SRCS, ATen_CUDA_CU_SRCS.
_CPP = [
    "cuda",
    "native_cuda",
    "native_cudnn",
    "native_miopen",
    "native_nested_cuda",
    "native_quantized_cuda",
    "native_quantized_cudnn",
    "native_sparse_cuda",
    "native_transformers_cuda",
    "flash_attention_cuda",
    "mem_eff_attention_cuda",
    "cudnn",
]
_CU = [
    "cuda_cu",
    "native_cuda_cu",
    "native_nested_cuda_cu",
    "native_sparse_cuda_cu",
    "native_quantized_cuda_cu",
    "native_transformers_cuda_cu",
    "flash_attention_cuda_cu",
    "flash_attention_cuda_kernels_cu",
    "mem_eff_attention_cuda_cu",
    "mem_eff_attention_cuda_kernels_cu",
]

def units_in_order():
    """Upstream's units of libtorch_cuda, but those of the distributed plugin.

    Returns:
        list of strings, paths in @pytorch and the names of files that torchgen writes.
    """
    generated = [
        "RegisterCUDA.cpp",
        "RegisterNestedTensorCUDA.cpp",
        "RegisterQuantizedCUDA.cpp",
        "RegisterSparseCUDA.cpp",
        "RegisterSparseCsrCUDA.cpp",
        "UfuncCUDA_add.cu",
    ]
    sorting = aten_cuda_with_sort_by_key_source_list + aten_cuda_cu_with_sort_by_key_source_list
    kernels = [unit for group in _CU for unit in UNITS[group]] + generated + aten_cuda_cu_source_list
    functions = [unit for group in _CPP for unit in UNITS[group + "_cpp"]]

    # caffe2/CMakeLists.txt: Caffe2_GPU_SRCS, its part with sorts, Caffe2_GPU_CU_SRCS, its part with sorts.
    order = (
        [unit for unit in functions if unit not in kernels + sorting] +
        ["c_shim_cuda.cpp"] +
        aten_cuda_with_sort_by_key_source_list +
        [unit for unit in kernels if unit not in sorting] +
        libtorch_cuda_core_sources +
        aten_cuda_cu_with_sort_by_key_source_list
    )
    return {unit: None for unit in order}.keys()
