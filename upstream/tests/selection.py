"""Which of PyTorch's tests are run: files, pytest's `-k` for each, and the slice that is part of every test run.

CUDA's variants of tests for all devices. Where a file has thousands of them, those for one type.
"""

from __future__ import annotations

import re

SELECTED = {
    "test_torch.py": "CUDA",
    # What compares with the CPU, and between variants of an operator.
    "test_ops.py": "TestCommonCUDA and float32 and (test_compare_cpu or test_out_ or test_variant)",
    "test_cuda.py": "",
    "test_cuda_multigpu.py": "",
    "test_autograd.py": "CUDA",
    "test_binary_ufuncs.py": "CUDA and float32",
    "test_foreach.py": "CUDA and float32",
    "test_indexing.py": "CUDA",
    "test_jiterator.py": "",
    "test_linalg.py": "CUDA and float32",
    "test_nn.py": "CUDA",
    "test_optim.py": "CUDA",
    "test_reductions.py": "CUDA and not (float64 or complex)",
    "test_scatter_gather_ops.py": "CUDA",
    "test_shape_ops.py": "CUDA",
    "test_sort_and_select.py": "CUDA",
    "test_spectral_ops.py": "CUDA",
    # Without the tests of the fused kernels, which are in wheels with --//config:attention.
    "test_transformers.py": "CUDA and not (TestSDPACudaOnly or TestSDPAFailureModes)",
    "test_type_promotion.py": "CUDA",
    "test_unary_ufuncs.py": "CUDA and float32",
    "test_view_ops.py": "CUDA",
    "nn/test_convolution.py": "CUDA",
    "nn/test_dropout.py": "CUDA",
    "nn/test_embedding.py": "CUDA",
    "nn/test_pooling.py": "CUDA",
    # Of the others upstream skips all that profile CUDA, or all under Python 3.13.
    "profiler/test_profiler.py": "CUDA",
}

# About what the profile `full` has and core has not (--outside-core). Behind `::` is which part of a file is meant.
OUTSIDE_CORE = {
    "test_nestedtensor.py": "CUDA and not float64",
    "test_segment_reductions.py": "CUDA",
    "test_sparse.py": "CUDA and not (complex64 or float64)",
    "test_sparse_csr.py": "CUDA and (float32 or complex128)",
    "test_sparse_semi_structured.py": "CUDA",
    "test_transformers.py::fused": "TestSDPACudaOnlyCUDA or TestSDPAFailureModesCUDA",
    "quantization/core/test_quantized_tensor.py": "cuda",
}

# NCCL's. They are asked for by name (--file): each of their tests starts two processes, which takes some ten seconds.
DISTRIBUTED = {
    "distributed/test_c10d_common.py": "",
    "distributed/test_c10d_nccl.py": "",
    "distributed/test_c10d_ops_nccl.py": "",
    "distributed/test_c10d_spawn_nccl.py": "",
    "distributed/test_distributed_spawn.py": "",
    "distributed/_composable/test_replicate.py": "",
    "distributed/_composable/fsdp/test_fully_shard_autograd.py": "",
    "distributed/_composable/fsdp/test_fully_shard_clip_grad_norm_.py": "",
    "distributed/_composable/fsdp/test_fully_shard_comm.py": "",
    "distributed/_composable/fsdp/test_fully_shard_frozen.py": "",
    "distributed/_composable/fsdp/test_fully_shard_grad_scaler.py": "",
    "distributed/_composable/fsdp/test_fully_shard_init.py": "",
    "distributed/_composable/fsdp/test_fully_shard_mixed_precision.py": "",
    "distributed/_composable/fsdp/test_fully_shard_state.py": "",
    "distributed/_composable/fsdp/test_fully_shard_state_dict.py": "",
    "distributed/_composable/fsdp/test_fully_shard_training.py": "",
}

EXPRESSIONS = {**SELECTED, **OUTSIDE_CORE, **DISTRIBUTED}
"""pytest's -k of every file that is named here, in the order of the tables."""

# Files whose tests are run by several processes together, started from outside; how many.
RANKS = {"distributed/test_c10d_ops_nccl.py": 2}


def path(name: str) -> str:
    """The file of a name, below upstream's folder test.

    Args:
        name: a file's, or that of a part of one, such as "test_transformers.py::fused".
    """
    return name.partition("::")[0]


def record(name: str) -> str:
    """What the record of a name's tests is called.

    Args:
        name: a file's, or that of a part of one.
    """
    return name.replace("/", ".").replace(".py::", ".").removesuffix(".py") + ".jsonl"


def settings(name: str) -> dict[str, str]:
    """Variables that a file needs beside the usual.

    Args:
        name: the file's, below upstream's folder test.
    """
    if name == "test_cuda_multigpu.py":
        return {"CUDASIM_DEVICES": "2"}
    if name == "distributed/test_distributed_spawn.py":
        return {"CUDASIM_DEVICES": "2", "WORLD_SIZE": "2", "BACKEND": "nccl"}
    return {"CUDASIM_DEVICES": "2"} if name in DISTRIBUTED else {}


def devices(chosen: str, name: str) -> str:
    """TORCH_CUDA_DEVICES of a file's tests.

    Args:
        chosen: what to run on, such as "sim" or "fake:count=2". The name "fake" alone is as many devices as the file's
            tests ask for, and about as large as the simulated ones: the tests look at that before they fill the memory.
        name: the file's, below upstream's folder test.
    """
    # Upstream expects that some memory is taken from the start, so that two halves do not fit: these do not.
    count = settings(name).get("CUDASIM_DEVICES", "1")
    return f"fake:count={count};memory=8191M" if chosen == "fake" else chosen


def kind(chosen: str) -> str:
    """Whose entries of known.toml are meant: the device's name; empty for the simulated one.

    Args:
        chosen: what is run on; empty: as the environment says, which is the simulated one.
    """
    name = re.split("[:,]", chosen)[0]
    return "" if name == "sim" else name


# Of each file, one test in so many is part of `bazel test //...` (slice_test.py): what takes some ten seconds on two
# cores, most of them for the import of the file.
SLICES = {
    "test_torch.py": 20,
    "test_ops.py": 50,
    "test_cuda.py": 12,
    "test_cuda_multigpu.py": 6,
    "test_autograd.py": 3,
    "test_binary_ufuncs.py": 30,
    "test_foreach.py": 20,
    "test_indexing.py": 6,
    "test_jiterator.py": 15,
    "test_linalg.py": 4,
    "test_nn.py": 30,
    "test_optim.py": 20,
    "test_reductions.py": 50,
    "test_scatter_gather_ops.py": 4,
    "test_shape_ops.py": 4,
    "test_sort_and_select.py": 4,
    "test_spectral_ops.py": 20,
    "test_transformers.py": 20,
    "test_type_promotion.py": 15,
    "test_unary_ufuncs.py": 50,
    "test_view_ops.py": 5,
    "nn/test_convolution.py": 30,
    "nn/test_dropout.py": 1,
    "nn/test_embedding.py": 4,
    "nn/test_pooling.py": 4,
    "profiler/test_profiler.py": 1,
}

# The same of those that --outside-core adds.
OUTSIDE_CORE_SLICES = {
    "test_nestedtensor.py": 15,
    "test_segment_reductions.py": 2,
    "test_sparse.py": 20,
    "test_sparse_csr.py": 30,
    "test_sparse_semi_structured.py": 5,
    "test_transformers.py::fused": 500,
    "quantization/core/test_quantized_tensor.py": 1,
}

PARTS = {**SLICES, **OUTSIDE_CORE_SLICES}
"""Of each file, one test in so many is its slice."""

# What would be in a slice, and takes ten seconds or more.
LONG = {
    "test_cuda.py": ("TestCuda.test_caching_allocator_record_stream_oom",),
    "test_indexing.py": (
        "TestIndexingCUDA.test_advancedindex_cuda_float64",
        "TestIndexingCUDA.test_index_put_accumulate_large_tensor_cuda",
    ),
    # The first for minutes, with 7 GB: images with 100,000 channels.
    "nn/test_pooling.py": (
        "TestPoolingNNDeviceTypeCUDA.test_max_pool2d_cuda",
        "TestPoolingNNDeviceTypeCUDA.test_max_pool2d_nhwc_cuda_float32",
        "TestPoolingNNDeviceTypeCUDA.test_max_pool2d_nhwc_cuda_float64",
    ),
    "test_transformers.py": (
        "TestAttnBiasCUDA.test_causal_variants_compile_causal_variant_2_shape1_cuda",
        (
            "TestTransformersCUDA.test_transformerencoder_fastpath_use_torchscript_False_"
            "enable_nested_tensor_False_use_autocast_True_d_model_256_cuda"
        ),
    ),
}
