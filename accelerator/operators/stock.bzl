"""stock_operators: these operators, compiled for each PyTorch of PyPI that there is in //third_party/stock_torch."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//third_party/stock_torch:versions.bzl", "STOCK_TORCH")
load("//tools/cc:shared_library.bzl", "shared_library")
load("//tools/cc:unity.bzl", "unity_units")

_CUDA_HEADERS = {
    12: "@cuda//:cuda_headers",
    13: "@cuda13//:headers",
}

# What a program has that has imported torch.
_TORCH = [
    "libc10.so",
    "libc10_cuda.so",
    "libtorch_cpu.so",
    "libtorch_cuda.so",
]

def stock_libraries():
    """Names the libraries, by the minor version of PyTorch.

    Returns:
        dict of minor version, such as "2.15", to target of this package.
    """
    return {minor: "libtorch_cuda_operators-%s.so" % minor for minor in STOCK_TORCH}

def stock_routers():
    """Names where the libraries lie in a wheel, below the folder of routers.

    Returns:
        dict of target of this package to path.
    """
    return {
        library: "cu%d/%s" % (STOCK_TORCH[minor].cuda, library)
        for minor, library in stock_libraries().items()
    }

def stock_operators(name, srcs, deps, units, copts = []):
    """Declares `libtorch_cuda_operators-MINOR.so` for each minor version.

    Args:
        name: string, what the names of the objects begin with.
        srcs: list of labels, sources and headers, the same for all.
        deps: list of labels, libraries without torch's headers.
        units: label of an int_flag, how many translation units there are of it; see //tools/cc:unity.bzl.
        copts: list of compiler flags.
    """
    unity_units(
        name = name + "_units",
        srcs = srcs,
        units = units,
        visibility = ["//visibility:private"],
    )
    for minor, library in stock_libraries().items():
        torch = STOCK_TORCH[minor]
        objects = "%s-%s" % (name, minor)
        cc_library(
            name = objects,
            srcs = [name + "_units"],
            # What is included from generated files counts as one's own, too.
            copts = ["-Wall", "-Wextra", "-Werror"] + copts + ["-std=" + torch.std],
            linkstatic = True,
            local_defines = [
                "AT_PER_OPERATOR_HEADERS",
                "USE_CUDA",
            ],
            textual_hdrs = srcs,
            visibility = ["//visibility:private"],
            deps = deps + [
                "@stock_torch_%s//:headers" % minor.replace(".", "_"),
                _CUDA_HEADERS[torch.cuda],
            ],
            alwayslink = True,
        )
        shared_library(
            name = library,
            absent = _TORCH + ["libcudart.so.%d" % torch.cuda],
            manylinux = "//tools/cc/manylinux",
            visibility = ["//:__subpackages__"],
            deps = [objects],
        )
