"""component: one folder of a larger library, its sources and its headers."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load(":unity.bzl", "unity_library")

def component(name, deps = [], implementation_deps = [], header_deps = [], exclude = [], **kwargs):
    """A library of all sources of the package, its headers by themselves, and its tests as a filegroup.

    The headers by themselves are for libraries that compile against the folder and link to the shared library that
    it is in. A header of a folder that is not among the dependencies is an error, so the BUILD files say which
    folder knows which.

    Args:
        name: string, the folder's name.
        deps: list of labels, folders whose headers those of this one include.
        implementation_deps: list of labels, what only the sources include or need.
        exclude: list of strings, sources that are no part of the library.
        header_deps: list of labels without objects, which headers include: those of other libraries.
        **kwargs: further attributes of the library.
    """
    cc_library(
        name = "headers",
        hdrs = native.glob(["*.h"]),
        visibility = ["//:__subpackages__"],
        deps = [folder + ":headers" for folder in deps] + header_deps,
    )
    sources = native.glob(
        ["*.cpp"],
        allow_empty = True,
        exclude = ["*_test.cpp"] + exclude,
    )
    library = unity_library if len(sources) > 1 else cc_library
    library(
        name = name,
        srcs = sources,
        linkstatic = True,
        visibility = ["//:__subpackages__"],
        deps = [":headers"] + deps + implementation_deps,
        **kwargs
    )

    # The fuzzers compile these again, with sanitizers.
    native.filegroup(
        name = "sources",
        srcs = native.glob(
            [
                "*.cpp",
                "*.h",
            ],
            exclude = ["*_test.cpp"] + exclude,
        ),
        visibility = ["//:__subpackages__"],
    )
    tests = native.glob(
        ["*_test.cpp"],
        allow_empty = True,
    )
    if tests:
        native.filegroup(
            name = "tests",
            testonly = True,
            srcs = tests,
            visibility = ["//:__subpackages__"],
        )
