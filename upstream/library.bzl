"""Macros and rules that turn upstream's translation units into libraries.

Every unit is a target of its own (`//aten_cuda/native:cuda/AbsKernel.cu`), so that a build compiles just what it needs,
and a library is a set of units. Which units of a library take part in a build is decided by `//config:ops`. Where all
of them always do, they may be compiled together.
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//aten_cuda/profiles:defs.bzl", "OpProfileInfo", "kernel_selected")
load("//tools/cc:cuda_library.bzl", "cuda_library", "unity_cuda_library")
load("//tools/cc:unity.bzl", "unity_library")

ATEN = "aten/src/ATen/"

# Warnings are upstream's own business; ours are switched on in our own libraries.
UPSTREAM_COPTS = ["-w"]

UPSTREAM_DEFINES = [
    "AT_PER_OPERATOR_HEADERS",
    "TORCH_CUDA_BUILD_MAIN_LIB",
    "USE_CUDA",
]

NVCC_OPTIONS = [
    "-std=c++17",
    "-O2",
    "-w",
    "--expt-relaxed-constexpr",
    "--expt-extended-lambda",
] + select({
    # At -O1, the compiler of CUDA 12.4 copies some structures to wrong places; at -O0 it does not.
    "//config:ptx_is_quick": ["-Xcicc=-O0"],
    "//conditions:default": [],
})

# Upstream takes half and bfloat16 arithmetic from its own types, and keeps CUB's symbols to itself.
NVCC_DEFINES = [
    "CUB_WRAPPED_NAMESPACE=at_cuda_detail",
    "__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "__CUDA_NO_HALF2_OPERATORS__",
    "__CUDA_NO_HALF_CONVERSIONS__",
    "__CUDA_NO_HALF_OPERATORS__",
]

_HEADERS = "//aten_cuda:headers"
_CUDNN_HEADERS = "//aten_cuda:headers_with_cudnn"

# Of the bindings; ATen asks its own configuration.
_CUDNN_DEFINES = select({
    "//config:with_cudnn": ["USE_CUDNN"],
    "//conditions:default": [],
})

def unit_name(unit):
    """The target that compiles a unit.

    Args:
        unit: string, path in @pytorch.

    Returns:
        string, the unit's path below ATen, or below torch/csrc.
    """
    return unit.removeprefix(ATEN).removeprefix("native/").removeprefix("torch/csrc/")

def _profile_library_impl(ctx):
    profile = ctx.attr.profile[OpProfileInfo]
    chosen = [
        dep
        for dep, path in ctx.attr.units.items()
        if kernel_selected(profile, path)
    ] + [
        dep
        for dep, path in ctx.attr.substitutes.items()
        if not kernel_selected(profile, path)
    ]
    return [
        DefaultInfo(files = depset(transitive = [dep[DefaultInfo].files for dep in chosen])),
        cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in chosen]),
    ]

profile_library = rule(
    implementation = _profile_library_impl,
    attrs = {
        "units": attr.label_keyed_string_dict(
            providers = [CcInfo],
            doc = "Libraries of one unit each, and the unit's path below aten/src/ATen.",
        ),
        "substitutes": attr.label_keyed_string_dict(
            providers = [CcInfo],
            doc = "Libraries of ours, each with the unit whose place it takes where the profile leaves that out.",
        ),
        "profile": attr.label(
            mandatory = True,
            providers = [OpProfileInfo],
            doc = "The op profile that chooses among the units.",
        ),
    },
    doc = "The units of a library that an op profile asks for.",
    provides = [CcInfo],
)

def _file(unit):
    return unit.split("/")[-1]

def _targets(name, units, together, alone):
    """Says which target compiles which units.

    Args:
        name: string, name of the library.
        units: list of strings, paths in @pytorch.
        together: whether units share targets.
        alone: list of file names of the units that do not.

    Returns:
        dict of the targets' names to lists of units of one language.
    """
    targets = {}
    for unit in units:
        shared = together and _file(unit) not in alone
        target = "%s.%s" % (name, unit.split(".")[-1]) if shared else unit_name(unit)
        targets.setdefault(target, []).append(unit)
    return targets

def upstream_library(
        name,
        units,
        profiled = False,
        together = False,
        apart = [],
        substitutes = {},
        deps = [],
        unit_deps = {},
        unit_defines = {},
        cudnn_units = [],
        sources = {},
        local_defines = [],
        copts = [],
        cuda_copts = [],
        visibility = None):
    """Declares a target for each upstream translation unit, or for several, and a library of all of them.

    Args:
        name: name of the library.
        units: list of strings, paths in @pytorch, each a .cpp or .cu file.
        profiled: whether only the units that `//config:ops` asks for are part of the library.
        together: whether one target compiles all .cpp units and one all .cu units, for units that cost less than their
            headers: NAME.cpp and NAME.cu, with //tools/cc:sources_a_unit.
        apart: list of file names of the units that have targets of their own all the same. Those in `unit_defines` and
            `cudnn_units` have, too.
        substitutes: dict of labels of libraries to the units in whose place they come when a profile leaves these out.
        deps: libraries whose headers the units include.
        unit_deps: dict of file names to further libraries that these units alone include.
        unit_defines: dict of file names to macros of these units alone.
        cudnn_units: list of file names of the units that ask whether cuDNN is there. `deps` has //aten_cuda:headers; they get
            //aten_cuda:headers_with_cudnn in its place.
        sources: dict of file names to what is compiled in the place of these units (lists of labels, or a select of them).
        local_defines: macros of these units, besides those that all upstream units get.
        copts: options of the C++ compiler, for .cpp units; `$(CUDA_ARCH_NAMES)` stands for the architectures.
        cuda_copts: options of nvcc, for .cu units.
        visibility: visibility of the library; the units themselves are visible to this repository.
    """
    if profiled and together:
        fail("%s: a profile chooses among targets of one unit each; give either profiled or together" % name)
    labels = {}
    for target, its_units in _targets(name, units, together, apart + unit_defines.keys() + cudnn_units).items():
        files = [_file(unit) for unit in its_units]
        srcs = []
        for unit in its_units:
            srcs += sources.get(_file(unit), ["@pytorch//:" + unit])
        includes = deps + {dep: None for file in files for dep in unit_deps.get(file, [])}.keys()
        defines = local_defines + unit_defines.get(files[0], [])
        asks_for_cudnn = files[0] in cudnn_units
        if asks_for_cudnn:
            includes = [_CUDNN_HEADERS if dep == _HEADERS else dep for dep in includes]
        labels[":" + target] = its_units[0].removeprefix(ATEN)
        several = len(its_units) > 1
        if target.endswith(".cu"):
            library = unity_cuda_library if several else cuda_library
            library(
                name = target,
                srcs = srcs,
                copts = NVCC_OPTIONS + cuda_copts,
                local_defines = UPSTREAM_DEFINES + NVCC_DEFINES + defines,
                tags = ["manual"],
                visibility = ["//:__subpackages__"],
                deps = includes,
                alwayslink = True,
            )
        else:
            library = unity_library if several else cc_library
            library(
                name = target,
                srcs = srcs,
                copts = UPSTREAM_COPTS + copts,
                linkstatic = True,
                local_defines = UPSTREAM_DEFINES + defines + (_CUDNN_DEFINES if asks_for_cudnn else []),
                tags = ["manual"],
                toolchains = ["//config:cuda_archs"],
                visibility = ["//:__subpackages__"],
                deps = includes,
                alwayslink = True,
            )
    if profiled:
        profile_library(
            name = name,
            profile = "//config:ops",
            substitutes = substitutes,
            units = labels,
            visibility = visibility,
        )
    else:
        cc_library(
            name = name,
            visibility = visibility,
            deps = list(labels),
        )
