"""The versions of all wheels."""

load("@cuda_toolkit//:cuda.bzl", "CUDA_VERSION")
load("@torch//:torch.bzl", "TORCH")

# Of the wheels that serve every torch, or none: torch_cuda_runtime, torch_cuda_sim, torch_cuda_adapter. CHANGELOG.md says what
# each has. Those of one build belong together.
PROJECT_VERSION = "0.5.0"

# Of torch_cuda, its plugins and torch_pu, which has a library for it: they are for one torch and one CUDA, and insist on the
# same version, such as 2.6.0+cu124.
TORCH_CUDA_VERSION = "%s+cu%s" % (
    TORCH["public_version"],
    CUDA_VERSION.replace(".", ""),
)
