"""The version of all wheels: those of one build belong together, and plugins insist on it."""

load("@cuda_toolkit//:cuda.bzl", "CUDA_VERSION")
load("@torch//:torch.bzl", "TORCH")

# Such as 2.6.0+cu124.
WHEEL_VERSION = "%s+cu%s" % (
    TORCH["public_version"],
    CUDA_VERSION.replace(".", ""),
)
