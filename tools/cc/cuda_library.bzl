"""cuda_library of rules_cuda, compiled for the architectures of --//config:cuda_archs."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@rules_cuda//cuda:defs.bzl", _cuda_library = "cuda_library")
load("//config:cuda_archs.bzl", "cuda_archs_transition")

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
