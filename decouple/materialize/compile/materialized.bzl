"""Compiles moved sources from the tree that `decouple materialize` writes."""

load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common", "cc_library")
load("//upstream:library.bzl", "NVCC_DEFINES", "NVCC_OPTIONS")
load("//tools/cc:cuda_library.bzl", "cuda_library")

def _materialized_device_impl(ctx):
    tree = ctx.actions.declare_directory(ctx.label.name)
    copies = [
        'cp -L "{}" "{}/{}"'.format(target.files.to_list()[0].path, tree.path, place)
        for target, place in ctx.attr.configured.items()
    ]
    ctx.actions.run_shell(
        command = "\n".join([
            "set -e",
            "work=$(mktemp -d)",
            "trap 'rm -rf \"$work\"' EXIT",
            '"$1" materialize "$(dirname "$(readlink -f "$2")")" --out "$work/tree"',
            'cp -r "$work/tree/third_device/torch_cuda/." "$3"',
            # Headers that stay and are patched go before the installed torch's.
            "for header in $(sed -n 's,^+++ b/aten/src/\\(.*\\.h\\)$,\\1,p' \"$3\"/torch_patches/*.patch)",
            'do mkdir -p "$3/patched/$(dirname "$header")"',
            'cp "$work/tree/aten/src/$header" "$3/patched/$header"',
            "done",
        ] + copies),
        arguments = [ctx.executable._decouple.path, ctx.file.version.path, tree.path],
        inputs = depset([ctx.file.version] + ctx.files.sources + ctx.files.configured),
        tools = [ctx.attr._decouple[DefaultInfo].files_to_run],
        outputs = [tree],
        mnemonic = "Materialize",
        progress_message = "Restructuring PyTorch's tree",
    )
    return [
        DefaultInfo(files = depset([tree])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([tree]),
            includes = depset([tree.path + "/patched", tree.path]),
        )),
    ]

materialized_device = rule(
    implementation = _materialized_device_impl,
    attrs = {
        "configured": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Headers that upstream's build writes, and where they belong below the device's folder.",
        ),
        "sources": attr.label_list(
            allow_files = True,
            doc = "Files of upstream's tree whose changes make the tree be written again.",
        ),
        "version": attr.label(
            allow_single_file = True,
            mandatory = True,
            doc = "version.txt at the top of upstream's tree.",
        ),
        "_decouple": attr.label(
            default = "//decouple",
            cfg = "exec",
            executable = True,
        ),
    },
    doc = "The folder third_device/torch_cuda of the restructured tree, as headers that sources can include.",
)

def _archives_impl(ctx):
    libraries = [
        library
        for dep in ctx.attr.deps
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list()
        if linker_input.owner == dep.label
        for library in linker_input.libraries
    ]
    if not libraries:
        fail("%s: there is nothing to link in %s" % (ctx.label, ctx.attr.deps))
    return [DefaultInfo(files = depset([
        library.pic_static_library or library.static_library
        for library in libraries
    ]))]

archives = rule(
    implementation = _archives_impl,
    attrs = {"deps": attr.label_list(
        mandatory = True,
        providers = [CcInfo],
        doc = "Libraries, whose own archives are wanted.",
    )},
    doc = "The archives of libraries as files, so that building this compiles them.",
)

def materialized_library(name, units, moves, deps, copts = [], local_defines = [], **kwargs):
    """Libraries of moved sources, compiled where they are now: NAME of the C++ ones, NAME_kernels of the CUDA ones.

    Args:
        name: string, name of the library.
        units: list of strings, paths in upstream's tree.
        moves: dict of strings, folders of upstream's tree to folders below the device's.
        deps: list of labels; a materialized_device is one of them.
        copts: list of strings, options of the C++ compiler.
        local_defines: list of strings, macros of all units.
        **kwargs: attributes common to all rules.
    """
    srcs = []
    for unit in units:
        moved = [new + unit.removeprefix(old) for old, new in moves.items() if unit.startswith(old)]
        if len(moved) != 1:
            fail("%s: %s is in none of the folders that move: %s" % (name, unit, ", ".join(moves)))
        source = "%s/%s" % (name, unit)
        write_file(
            name = source + ".source",
            out = source,
            content = ["#include <%s>" % moved[0], ""],
            newline = "unix",
        )
        srcs.append(source)
    cc_library(
        name = name,
        srcs = [source for source in srcs if not source.endswith(".cu")],
        copts = copts,
        linkstatic = True,
        local_defines = local_defines,
        deps = deps,
        **kwargs
    )
    kernels = [source for source in srcs if source.endswith(".cu")]
    if kernels:
        cuda_library(
            name = name + "_kernels",
            srcs = kernels,
            copts = NVCC_OPTIONS,
            local_defines = local_defines + NVCC_DEFINES,
            deps = deps,
            **kwargs
        )
