"""The PyTorch of PyPI that operators are compiled for: one version for each minor, for a minor keeps its ABI."""

# Minor version: what is compiled against.
#   version: of the package.
#   cuda: int, the major version of CUDA that the package is built with.
#   std: the C++ standard that its headers need.
#   record_sha256: of the RECORD of its wheel for CPython 3.13; the headers are the same for each Python.
#       `python3 -m tools.remote_wheel.fetch --requirement=torch==VERSION` says it.
# In the order of the versions.
STOCK_TORCH = {
    "2.9": struct(
        cuda = 12,
        record_sha256 = "11cba21b1f4ad8f52bd981957db187823be5918c19f44b99ab7f5afae88c35ab",
        std = "c++17",
        version = "2.9.1",
    ),
    "2.12": struct(
        cuda = 13,
        record_sha256 = "a0e1c98a969b25e9b816b56524d12478f1057a9605d2a7f803523a80867852e5",
        std = "c++17",
        version = "2.12.1",
    ),
    "2.15": struct(
        cuda = 13,
        record_sha256 = "defa6e494a25707ad6374f60dcacd53bdeb982538e815326f062713730b670f4",
        std = "c++20",
        version = "2.15.0",
    ),
}

# What `//...` compiles for. Libraries for the others, and wheels that have them, are built by name (tests/README.md).
NEWEST = list(STOCK_TORCH)[-1]

def stock_wheel_variants(name):
    """The two variants of a wheel that has a library for each PyTorch of PyPI.

    Users install the whole wheel. `//...` builds and tests the newest wheel, which has the newest PyTorch's library alone:
    to compile a library takes more than a minute.

    Args:
        name: str, what the wheels' names begin with, as "torch_pu".
    Returns:
        a list of structs: name of the target; folder, str, of the wheel file below the package's, "" for none; minors, a
        list of keys of STOCK_TORCH; tags of the target.
    """
    return [
        struct(folder = "", minors = STOCK_TORCH.keys(), name = name + "_wheel", tags = ["manual"]),
        struct(folder = "newest", minors = [NEWEST], name = name + "_newest_wheel", tags = []),
    ]

def stock_wheel(name, minor):
    """The wheel that a test on a PyTorch of PyPI installs.

    Args:
        name: str, a label without the wheel's ending, as "//pu:torch_pu".
        minor: str, a key of STOCK_TORCH.
    Returns:
        the label of the smaller variant that serves the minor.
    """
    return name + ("_newest_wheel" if minor == NEWEST else "_wheel")
