"""stock_operators: these operators, compiled for each PyTorch of PyPI that there is in //third_party/stock_torch."""

load("//third_party/stock_torch:library.bzl", "stock_libraries", "stock_library")
load("//third_party/stock_torch:versions.bzl", "STOCK_TORCH")

_LIBRARY = "libtorch_cuda_operators"

def stock_routers(minors = STOCK_TORCH):
    """Names where the libraries lie in a wheel, below the folder of routers.

    Args:
        minors: list of strings, the minor versions of PyTorch.

    Returns:
        dict of target of this package to path.
    """
    return {
        library: "cu%d/%s" % (STOCK_TORCH[minor].cuda, library)
        for minor, library in stock_libraries(_LIBRARY, minors).items()
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
    stock_library(
        name = name,
        srcs = srcs,
        copts = copts,
        cuda = True,
        library = _LIBRARY,
        units = units,
        deps = deps,
    )
