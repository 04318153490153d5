"""stock_library: one library's sources, compiled for each PyTorch of PyPI that there is in versions.bzl."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//tools/cc:shared_library.bzl", "shared_library")
load("//tools/cc:unity.bzl", "unity_units")
load(":versions.bzl", "NEWEST", "STOCK_TORCH")

_CUDA_HEADERS = {
    12: "@cuda//:cuda_headers",
    13: "@cuda13//:headers",
}

# What a program has that has imported torch.
_TORCH = [
    "libc10.so",
    "libtorch_cpu.so",
]
_TORCH_CUDA = [
    "libc10_cuda.so",
    "libtorch_cuda.so",
]

def stock_libraries(library, minors = STOCK_TORCH):
    """Names the files of a stock_library, by the minor version of PyTorch.

    Args:
        library: string, its name, such as "libtorch_pu".
        minors: list of strings, the minor versions.

    Returns:
        dict of minor version, such as "2.15", to target in the library's package, such as "libtorch_pu-2.15.so".
    """
    return {minor: "%s-%s.so" % (library, minor) for minor in minors}

def stock_library(name, library, srcs, units, deps = [], copts = [], cuda = False, tags = []):
    """Declares `LIBRARY-MINOR.so` for each minor version.

    A program loads it that has imported torch: it is linked against empty libraries with torch's names. All but the
    newest are built by name.

    Args:
        name: string, what the names of the objects begin with.
        library: string, such as "libtorch_pu".
        srcs: list of labels, sources and headers, the same for all.
        units: label of an int_flag, how many translation units there are of it; see //tools/cc:unity.bzl.
        deps: list of labels, libraries without torch's headers.
        copts: list of compiler flags.
        cuda: bool, whether it names what is CUDA's: torch's libraries of CUDA, libcudart and its headers.
        tags: list of strings, of all targets; "manual" for what only tests that are run by name need.
    """
    unity_units(
        name = name + "_units",
        srcs = srcs,
        tags = tags,
        units = units,
        visibility = ["//visibility:private"],
    )
    for minor, file in stock_libraries(library).items():
        torch = STOCK_TORCH[minor]
        objects = "%s-%s" % (name, minor)
        tags_of_minor = tags + ([] if minor == NEWEST or "manual" in tags else ["manual"])
        cc_library(
            name = objects,
            srcs = [name + "_units"],
            copts = copts + ["-std=" + torch.std],
            linkstatic = True,
            local_defines = ["AT_PER_OPERATOR_HEADERS"] + (["USE_CUDA"] if cuda else []),
            tags = tags_of_minor,
            textual_hdrs = srcs,
            visibility = ["//visibility:private"],
            deps = deps + ["@stock_torch_%s//:headers" % minor.replace(".", "_")] +
                   ([_CUDA_HEADERS[torch.cuda]] if cuda else []),
            alwayslink = True,
        )
        shared_library(
            name = file,
            absent = _TORCH + (_TORCH_CUDA + ["libcudart.so.%d" % torch.cuda] if cuda else []),
            manylinux = "//tools/cc/manylinux",
            tags = tags_of_minor,
            visibility = ["//:__subpackages__"],
            deps = [objects],
        )
