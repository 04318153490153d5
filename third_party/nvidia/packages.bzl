"""Pins of NVIDIA's packages on PyPI. Each is a wheel; what is in it depends on no Python version."""

# The version that PyTorch 2.6.0 has as its submodule: kernels of its own derive from this one's templates.
CUTLASS = struct(
    requirement = "nvidia-cutlass==3.4.1.0",
    sha256 = "743c0ef66233c6ffaf348d9509ddb541d5c68f320ae85076bec0c3e047964f15",
    python_tag = "py3",
    folders = {
        "include": "cutlass_library/source/include",
        "include_util": "cutlass_library/source/tools/util/include",
    },
)

CUDNN = struct(
    requirement = "nvidia-cudnn-cu12==9.1.0.70",
    sha256 = "165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f",
    python_tag = "py3",
    folders = {
        "include": "nvidia/cudnn/include",
        "lib": "nvidia/cudnn/lib",
    },
)

CUDNN_FRONTEND = struct(
    requirement = "nvidia-cudnn-frontend==1.8.0",
    sha256 = "e3abf6a1dc03999be12714cbaf719e1d5b5a59d9fd5fa5214bca1022f9edcb7f",
    python_tag = "cp311",
    folders = {"include": "include"},
)

# The newest ones, which the runtime's own cuDNN is compiled with.
CUDNN_HEADERS = struct(
    requirement = "nvidia-cudnn-cu13==9.28.1.4",
    record_sha256 = "a5fbccfc84b1b62db5c087b6a353fec33b317edc4ae833805a4926b96b258339",
    prefix = "nvidia/cudnn",
)
