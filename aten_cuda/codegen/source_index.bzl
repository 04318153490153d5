"""source_index: which functions PyTorch's sources define, register and use; closure.py reads it."""

# An edit of one source reads one part again.
_PARTS = 16

def _source_index_impl(ctx):
    parts = [[] for _ in range(_PARTS)]
    for source in ctx.files.srcs:
        parts[hash(source.basename) % _PARTS].append(source)
    root = ctx.file.pytorch_marker.dirname
    outputs = []
    for number, sources in enumerate(parts):
        output = ctx.actions.declare_file("%s.%d.json" % (ctx.label.name, number))
        args = ctx.actions.args()
        args.set_param_file_format("multiline")
        args.use_param_file("@%s", use_always = True)
        args.add("--pytorch-root", root)
        args.add("--out", output)
        args.add_all([source.path.removeprefix(root + "/") for source in sources])
        ctx.actions.run(
            executable = ctx.executable._index,
            arguments = [args],
            inputs = sources,
            outputs = [output],
            mnemonic = "SourceIndex",
            progress_message = "Reading what PyTorch's sources define, part %d of %d" % (number + 1, _PARTS),
            use_default_shell_env = True,
        )
        outputs.append(output)
    return [DefaultInfo(
        files = depset(outputs),
        runfiles = ctx.runfiles(outputs),
    )]

source_index = rule(
    implementation = _source_index_impl,
    attrs = {
        "pytorch_marker": attr.label(
            allow_single_file = True,
            default = "@pytorch//:version.txt",
            doc = "A file in the root of the PyTorch tree.",
        ),
        "srcs": attr.label_list(
            allow_files = True,
            doc = "Sources of that tree.",
            mandatory = True,
        ),
        "_index": attr.label(
            cfg = "exec",
            default = "//aten_cuda/codegen:index",
            executable = True,
        ),
    },
    doc = "Writes NAME.N.json, which together are the index of the sources.",
)
