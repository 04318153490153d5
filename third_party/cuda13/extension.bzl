"""Module extension that declares @cuda13: the headers of CUDA 13, from NVIDIA's packages on PyPI.

`@cuda13//:headers` is what sources are compiled against that serve both major versions, `@cuda13//:include/NAME.h` each
header. Libraries and programs of CUDA 13 are not in it: nothing here is linked with them.
"""

load("//tools/remote_wheel:remote_wheel.bzl", "fetch_remote_wheel")
load(":packages.bzl", "PACKAGES")

def _cuda13_repository_impl(repository_ctx):
    for requirement, sha256 in PACKAGES.items():
        fetch_remote_wheel(
            repository_ctx,
            requirement,
            include = ["nvidia/cu13/include/**"],
            platforms = ["manylinux_2_%d_x86_64" % minor for minor in [27, 25, 17, 12]],
            record_sha256 = sha256,
            strip_prefix = "nvidia/cu13",
        )
    repository_ctx.symlink(Label("//third_party/cuda13:cuda13.BUILD.bazel"), "BUILD.bazel")

cuda13_repository = repository_rule(
    implementation = _cuda13_repository_impl,
    doc = "Fetches CUDA 13's headers, some 3 MB.",
)

def _cuda13_impl(_module_ctx):
    cuda13_repository(name = "cuda13")

cuda13 = module_extension(
    implementation = _cuda13_impl,
    doc = "Declares @cuda13.",
)
