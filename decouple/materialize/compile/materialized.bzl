"""Compiles moved sources from the tree that `decouple materialize` writes."""

load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common", "cc_library")

def _materialized_device_impl(ctx):
    tree = ctx.actions.declare_directory(ctx.label.name)
    copies = [
        'cp -L "{}" "{}/{}"'.format(target.files.to_list()[0].path, tree.path, place)
        for target, place in ctx.attr.configured.items()
    ]
    ctx.actions.run_shell(
        command = " && ".join([
            "work=$(mktemp -d)",
            "trap 'rm -rf \"$work\"' EXIT",
            '"$1" materialize "$(dirname "$(readlink -f "$2")")" --out "$work/tree"',
            'cp -r "$work/tree/third_device/torch_cuda/." "$3"',
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
            includes = depset([tree.path]),
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

def materialized_library(name, units, moves, deps, **kwargs):
    """A cc_library of moved sources, compiled where they are now.

    Args:
        name: string, name of the library.
        units: list of strings, paths in upstream's tree.
        moves: dict of strings, folders of upstream's tree to folders below the device's.
        deps: list of labels; a materialized_device is one of them.
        **kwargs: more attributes of cc_library.
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
        srcs = srcs,
        linkstatic = True,
        deps = deps,
        **kwargs
    )
