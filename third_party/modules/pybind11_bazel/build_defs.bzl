"""pybind_extension and pybind_library."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")

_COPTS = ["-fexceptions"]
_DEPS = [Label("@pybind11//:pybind11")]

def pybind_extension(name, copts = [], features = [], linkopts = [], tags = [], deps = [], **kwargs):
    """Builds a Python extension module.

    Args:
        name: name of the module; the shared object is the target `NAME.so`.
        copts: compiler options.
        features: features of the C++ toolchain.
        linkopts: linker options.
        tags: tags of the targets.
        deps: C++ libraries.
        **kwargs: passed on to cc_binary.
    """
    cc_binary(
        name = name + ".so",
        copts = copts + _COPTS,
        features = features,
        linkopts = linkopts,
        linkshared = True,
        tags = tags,
        deps = deps + _DEPS,
        **kwargs
    )

def pybind_library(name, copts = [], deps = [], **kwargs):
    """Builds a C++ library that uses pybind11.

    Args:
        name: name of the library.
        copts: compiler options.
        deps: C++ libraries.
        **kwargs: passed on to cc_library.
    """
    cc_library(
        name = name,
        copts = copts + _COPTS,
        deps = deps + _DEPS,
        **kwargs
    )
