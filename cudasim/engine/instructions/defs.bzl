"""Families of instructions, each built for several sets of machine instructions."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

# The name that sources see as CUDASIM_ISA, and what the compiler is told. x86-64-v3 has AVX2 and FMA, v4 AVX-512.
_ISAS = {
    "baseline": "x86-64",
    "v3": "x86-64-v3",
    "v4": "x86-64-v4",
}

# PTX says how each operation is rounded, so nothing may be contracted or reordered.
_COPTS = [
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fvisibility=hidden",
]

def instruction_families(name, rounding = []):
    """Builds the families of a package for each set of machine instructions; the registry picks at run time.

    Its tests are given as a filegroup, because all instructions are tested by one program.

    Args:
        name: string, name of the cc_library with all of them.
        rounding: list of strings, those of the families that change the rounding mode.
    """
    sources = native.glob(
        ["*.cpp"],
        exclude = ["*_test.cpp"],
    )
    libraries = []
    for source in sources:
        family = source.removesuffix(".cpp")
        for isa, march in _ISAS.items():
            library = "%s_%s" % (family, isa)
            cc_library(
                name = library,
                # Other processors have the first set alone, for whatever they are.
                target_compatible_with = [] if isa == "baseline" else ["@platforms//cpu:x86_64"],
                srcs = [source] + native.glob(
                    ["*.h"],
                    allow_empty = True,
                ),
                copts = _COPTS + select({
                    "@platforms//cpu:x86_64": ["-march=" + march],
                    "//conditions:default": [],
                }) + (["-frounding-math"] if family in rounding else []),
                linkstatic = True,
                local_defines = ["CUDASIM_ISA=" + isa],
                visibility = ["//visibility:private"],
                deps = ["//cudasim/engine/instructions:family"],
            )
            libraries.append(library)
    cc_library(
        name = name,
        visibility = ["//cudasim/engine/instructions:__pkg__"],
        deps = select({
            "@platforms//cpu:x86_64": libraries,
            "//conditions:default": [library for library in libraries if library.endswith("_baseline")],
        }),
    )
    native.filegroup(
        name = "sources",
        srcs = sources,
        visibility = ["//cudasim/engine/instructions:__pkg__"],
    )
    native.filegroup(
        name = "fuzzed",
        srcs = sources + native.glob(
            ["*.h"],
            allow_empty = True,
        ),
        visibility = ["//cudasim/engine/fuzz:__pkg__"],
    )
    native.filegroup(
        name = "tests",
        testonly = True,
        srcs = native.glob(["*_test.cpp"]),
        visibility = ["//cudasim/engine/instructions:__pkg__"],
    )

def instruction_tests(name, srcs, deps):
    """Runs the same tests on the instructions as built for each set of machine instructions.

    A machine that lacks a set runs the widest that it has.

    Args:
        name: string; the tests are called name_baseline, name_v3 and name_v4.
        srcs: list of labels, the tests' sources.
        deps: list of labels, what they include.
    """
    cc_library(
        name = name,
        testonly = True,
        srcs = srcs,
        # Expectations are computed in the rounding mode that a test asks for, without extra precision.
        copts = [
            "-frounding-math",
            "-ffp-contract=off",
        ],
        visibility = ["//visibility:private"],
        deps = deps,
        alwayslink = True,
    )
    for isa in _ISAS:
        cc_test(
            name = "%s_%s" % (name, isa),
            size = "small",
            env = {"CUDASIM_ISA": isa},
            linkstatic = True,
            visibility = ["//cudasim:__subpackages__"],
            deps = [":" + name],
        )
