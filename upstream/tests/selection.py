"""Which of PyTorch's tests are run: files, and pytest's `-k` for each.

CUDA's variants of tests for all devices. Where a file has thousands of them, those for one type.
"""

from __future__ import annotations

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
    "test_nn.py": "CUDA",
    "test_optim.py": "CUDA",
    "test_reductions.py": "CUDA and not (float64 or complex)",
    "test_scatter_gather_ops.py": "CUDA",
    "test_shape_ops.py": "CUDA",
    "test_sort_and_select.py": "CUDA",
    # Without the tests of the fused kernels, which are in wheels with --//config:attention.
    "test_transformers.py": "CUDA and not (TestSDPACudaOnly or TestSDPAFailureModes)",
    "test_type_promotion.py": "CUDA",
    "test_unary_ufuncs.py": "CUDA and float32",
    "test_view_ops.py": "CUDA",
    "nn/test_convolution.py": "CUDA",
    "nn/test_dropout.py": "CUDA",
    "nn/test_embedding.py": "CUDA",
    "nn/test_pooling.py": "CUDA",
}

# Variables that a file needs beside the usual.
SETTINGS = {"test_cuda_multigpu.py": {"CUDASIM_DEVICES": "2"}}
