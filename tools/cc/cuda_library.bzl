"""cuda_library of rules_cuda, compiled for the architectures of --//config:cuda_archs; several sources as one, too."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@rules_cuda//cuda:defs.bzl", _cuda_library = "cuda_library")
load("//config:cuda_archs.bzl", "cuda_archs_transition")
load(":unity.bzl", "unity_units")

def _angled_includes_impl(ctx):
    dependencies = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    context = dependencies.compilation_context
    return [CcInfo(
        compilation_context = cc_common.create_compilation_context(
            defines = context.defines,
            headers = context.headers,
            includes = context.includes,
            system_includes = context.system_includes,
        ),
        linking_context = dependencies.linking_context,
    )]

_angled_includes = rule(
    implementation = _angled_includes_impl,
    attrs = {"deps": attr.label_list(
        providers = [CcInfo],
        doc = "Libraries whose headers are included.",
    )},
    doc = """Libraries without the folders that Bazel offers for `#include "…"`.

rules_cuda searches these for `#include <…>` too, and before all others: the top of @pytorch would hide the installed
torch's headers.""",
    provides = [CcInfo],
)

def _for_cuda_archs_impl(ctx):
    library = ctx.attr.library[0]
    return [library[DefaultInfo], library[OutputGroupInfo], library[CcInfo]]

_for_cuda_archs = rule(
    implementation = _for_cuda_archs_impl,
    attrs = {"library": attr.label(
        cfg = cuda_archs_transition,
        mandatory = True,
        providers = [CcInfo],
        doc = "The library to compile for these architectures.",
    )},
    doc = "A library of CUDA units, compiled for --//config:cuda_archs.",
    provides = [CcInfo],
)

def cuda_library(name, deps = [], tags = [], testonly = False, visibility = None, **kwargs):
    """Declares a cuda_library that --//config:cuda_archs holds for.

    Args:
        name: string, name of the library; what compiles it is the target NAME.nvcc.
        deps: list of labels, libraries whose headers are included and that are linked.
        tags: list of strings.
        testonly: whether tests alone may use it.
        visibility: list of labels.
        **kwargs: attributes of rules_cuda's cuda_library, but `archs`.
    """
    _angled_includes(
        name = name + ".deps",
        tags = ["manual"],
        testonly = testonly,
        visibility = ["//visibility:private"],
        deps = deps,
    )
    _cuda_library(
        name = name + ".nvcc",
        deps = [":%s.deps" % name],
        tags = ["manual"],
        testonly = testonly,
        visibility = ["//visibility:private"],
        **kwargs
    )
    _for_cuda_archs(
        name = name,
        library = ":%s.nvcc" % name,
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def unity_cuda_library(name, srcs, deps = [], host_copts = [], tags = [], testonly = False, **kwargs):
    """A cuda_library whose sources are compiled several at a time: //tools/cc:sources_a_unit.

    nvcc has a source's headers compiled three times: for the host, for each architecture, and by the host's compiler.

    Args:
        name: string, name of the library.
        srcs: list of labels, the sources.
        deps: list of labels, libraries whose headers are included and that are linked.
        host_copts: list of strings, options of the host's compiler.
        tags: list of strings.
        testonly: whether tests alone may use it.
        **kwargs: further attributes of the cuda_library.
    """
    unity_units(
        name = name + "_units",
        srcs = srcs,
        tags = tags,
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name + "_sources",
        tags = tags,
        testonly = testonly,
        textual_hdrs = srcs,
        visibility = ["//visibility:private"],
    )
    cuda_library(
        name = name,
        srcs = [name + "_units"],
        # The units name the sources from where nvcc is run; `<…>` does not search there.
        host_copts = host_copts + ["-iquote", "."],
        tags = tags,
        testonly = testonly,
        deps = deps + [name + "_sources"],
        **kwargs
    )
