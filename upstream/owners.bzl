"""Which package of this repository owns a file of upstream's CUDA code.

Read by Bazel, and by decouple (--owners), which evaluates Starlark: the rule is here and nowhere else.
"""

# Each layer with the layers that it may name in its deps: docs/architecture.md, "Layers". What is not listed is
# forbidden, so that a new layer has to be thought about. A package belongs to the longest layer that it is in.
LAYERS = {
    "c10_cuda": [],
    "aten_cuda": ["c10_cuda"],
    "framework": ["c10_cuda", "aten_cuda"],
    "distributed": ["c10_cuda", "aten_cuda", "framework", "python/csrc"],
    "profiler": ["c10_cuda", "aten_cuda", "framework", "python/csrc"],
    "python/csrc": ["c10_cuda", "aten_cuda", "framework"],
    "python": ["c10_cuda", "aten_cuda", "framework", "python/csrc"],
}

# First match wins. `folder` is where the path begins; of `words`, one is in the path behind it; of `lists`, one of
# build_variables.bzl names the file.
_RULES = [
    {"package": "c10_cuda", "folder": "c10/cuda/"},
    {"package": "distributed", "folder": "torch/csrc/", "words": ["nccl", "distributed/"]},
    {"package": "profiler", "folder": "torch/csrc/profiler/"},
    {
        "package": "python/csrc",
        "folder": "torch/csrc/",
        "lists": ["libtorch_python_cuda_core_sources", "libtorch_python_cuda_sources"],
    },
    {"package": "framework/jit", "folder": "torch/csrc/jit/"},
    {"package": "framework/inductor", "folder": "torch/csrc/inductor/"},
    {"package": "framework", "folder": "torch/csrc/"},
    {"package": "aten_cuda/cudnn", "folder": "aten/src/ATen/", "words": ["cudnn/", "miopen/"]},
    {"package": "aten_cuda/attention", "folder": "aten/src/ATen/native/transformers/cuda/"},
    {"package": "aten_cuda/blas", "folder": "aten/src/ATen/native/cuda/linalg/"},
    {"package": "aten_cuda/native", "folder": "aten/src/ATen/native/"},
    # Units of ATen/cuda that talk to cuBLAS, cuSPARSE and cuSOLVER, by what their names contain.
    {
        "package": "aten_cuda/blas",
        "folder": "aten/src/ATen/cuda/",
        "words": ["Blas", "Cublas", "Sparse", "Solver", "tunable/"],
    },
    {"package": "aten_cuda/core", "folder": "aten/src/ATen/cuda/"},
    {"package": "aten_cuda/core", "folder": "aten/src/THC/"},
    {"package": "aten_cuda/codegen", "folder": "aten/src/ATen/"},
    {"package": "python/torch_cuda", "folder": "torch/"},
]

# The same for what is cut out of files of all devices: docs/coverage/intra-file.md has the sites.
_CUT_RULES = [
    {"package": "distributed", "folder": "torch/csrc/distributed/"},
    {"package": "framework", "folder": "torch/csrc/inductor/resize_storage_bytes"},
    {"package": "python/csrc", "folder": "torch/csrc/"},
]

def cut_package_of(path):
    """The package that supplies what is cut out of a file of all devices.

    Args:
        path: string, path in @pytorch.

    Returns:
        string such as "python/csrc"; the package of a whole file of that path where no rule is about cuts.
    """
    for rule in _CUT_RULES:
        if path.startswith(rule["folder"]):
            return rule["package"]
    return package_of(path)

def package_of(path, lists = []):
    """The package that owns a file.

    Args:
        path: string, path in @pytorch.
        lists: list of strings, the lists of upstream that name the file.

    Returns:
        string such as "aten_cuda/core"; "" where no package does.
    """
    for rule in _RULES:
        if not path.startswith(rule["folder"]):
            continue
        behind = path[len(rule["folder"]):]
        if "words" in rule and not any([word in behind for word in rule["words"]]):
            continue
        if "lists" in rule and not any([name in rule["lists"] for name in lists]):
            continue
        return rule["package"]
    return ""

def units_of(package, units, lists = []):
    """Those of some units that a package owns.

    Args:
        package: string such as "framework/jit".
        units: list of strings, paths in @pytorch.
        lists: list of strings, the lists of upstream that all of them are named by.

    Returns:
        list of strings.
    """
    return [unit for unit in units if package_of(unit, lists) == package]
