"""The module extension that fetches NVIDIA's cuRAND: `@nvidia_curand//:library`, out of PyPI.

In MODULE.bazel:

    curand = use_extension("//third_party/curand:extension.bzl", "curand", dev_dependency = True)
    use_repo(curand, "nvidia_curand")
"""

load("//third_party:pip_packages.bzl", "install_pip_packages")

_BUILD = '''"""NVIDIA's cuRAND, as fetched by third_party/curand."""

package(default_visibility = ["//visibility:public"])

exports_files(["site/nvidia/cu13/lib/libcurand.so.10"])

alias(
    name = "library",
    actual = "site/nvidia/cu13/lib/libcurand.so.10",
)

# What it finds beside itself.
alias(
    name = "runtime",
    actual = "site/nvidia/cu13/lib/libcudart.so.13",
)
'''

_FAILED = """\
NVIDIA's cuRAND, which a test compares with, could not be fetched: {reason}
  Needed: a PyPI that this machine reaches, and Linux on x86-64.
  Set PIP_INDEX_URL (PIP_CERT for a certificate of your own) and repeat,
  or leave the test out: bazel test -- //... -//runtime/libraries/rand:nvidia_test"""

def _curand_repository_impl(ctx):
    install_pip_packages(ctx, ctx.attr.requirements, _FAILED)
    ctx.file("BUILD.bazel", _BUILD)

curand_repository = repository_rule(
    implementation = _curand_repository_impl,
    doc = "The packages of requirements.txt, checked against their hashes and installed into a folder.",
    attrs = {
        "requirements": attr.label(
            doc = "The file with versions and hashes.",
            allow_single_file = [".txt"],
            mandatory = True,
        ),
    },
)

def _curand_extension_impl(_ctx):
    curand_repository(
        name = "nvidia_curand",
        requirements = Label("//third_party/curand:requirements.txt"),
    )

curand = module_extension(
    implementation = _curand_extension_impl,
    doc = "Makes the repository @nvidia_curand.",
)
