"""limited_sdp_utils: upstream's choice among attention's kernels, for a build that has fewer of them."""

def _limited_sdp_utils_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add(ctx.file._limit)
    arguments.add(ctx.attr.head_dimension)
    arguments.add_all(ctx.files.srcs)
    arguments.add(output)
    ctx.actions.run(
        executable = "/usr/bin/env",
        arguments = ["python3", "-S", "-B", arguments],
        inputs = ctx.files.srcs + [ctx.file._limit],
        outputs = [output],
        mnemonic = "LimitHeadDimension",
        use_default_shell_env = True,
        progress_message = "Limiting flash attention to head dimensions up to %d" % ctx.attr.head_dimension,
    )
    return [DefaultInfo(files = depset([output]))]

limited_sdp_utils = rule(
    implementation = _limited_sdp_utils_impl,
    attrs = {
        "head_dimension": attr.int(mandatory = True, doc = "The largest for which there are kernels, in elements."),
        "srcs": attr.label_list(allow_files = [".cpp"], mandatory = True, doc = "Upstream's sdp_utils.cpp."),
        # A file and no program of rules_python: what a unit depends on is all that //decouple asks Bazel for.
        "_limit": attr.label(allow_single_file = True, default = "//aten_cuda/attention:limit_head_dimension.py"),
    },
    doc = "Writes a file of the target's name: sdp_utils.cpp with a lower limit for flash attention.",
)
