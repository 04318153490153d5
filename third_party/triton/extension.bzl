"""Module extension that declares @triton. Only tests that `bazel test //...` leaves out fetch it: 240 MB."""

load("//third_party/nvidia:extension.bzl", "pypi_repository")

# The version that PyTorch 2.6.0 is released with.
_TRITON = struct(
    requirement = "triton==3.2.0",
    sha256 = "e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0",
    python_tag = "cp313",
    folders = {"triton": "triton"},
)

_BUILD = '''"""Unpacked from {requirements}."""

load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "triton",
    srcs = glob(["triton/**/*.py"]),
    data = glob(["triton/**"], exclude = ["triton/**/*.py"]),
    imports = ["."],
    visibility = ["//visibility:public"],
)
'''

def _triton_impl(_module_ctx):
    pypi_repository(name = "triton", build = _BUILD, packages = [json.encode(_TRITON)])

triton = module_extension(
    implementation = _triton_impl,
    doc = "Declares @triton.",
)
