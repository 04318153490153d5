"""Module extension that declares @pybind11 from the headers installed on this machine (Debian: pybind11-dev)."""

_BUILD = '''"""pybind11's headers."""

load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "pybind11",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    visibility = ["//visibility:public"],
)
'''

def _pybind11_repository_impl(repository_ctx):
    headers = repository_ctx.path("/usr/include/pybind11")
    if not headers.exists:
        fail("@pybind11: pybind11's headers are not installed. Install pybind11-dev, or use ./bazelw, which brings them.")
    repository_ctx.symlink(headers, "include/pybind11")
    repository_ctx.file("BUILD.bazel", _BUILD)

_pybind11_repository = repository_rule(implementation = _pybind11_repository_impl)

def _internal_configure_impl(_module_ctx):
    _pybind11_repository(name = "pybind11")

internal_configure_extension = module_extension(
    implementation = _internal_configure_impl,
    doc = "Declares @pybind11.",
)
