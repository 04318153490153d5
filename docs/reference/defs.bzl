"""The rule of the reference."""

def _reference_site_impl(ctx):
    site = ctx.actions.declare_directory(ctx.label.name)
    warnings = ctx.actions.declare_file(ctx.label.name + "_warnings.txt")
    arguments = ctx.actions.args()
    arguments.add("--doxygen", ctx.file._doxygen)
    arguments.add("--doxyfile", ctx.file.doxyfile)
    arguments.add("--index", ctx.file.index)
    arguments.add("--site", site.path)
    arguments.add("--warnings", warnings)
    arguments.add_all(ctx.files.headers, before_each = "--header")
    modules = [file for file in ctx.files.packages if file.extension == "py"]
    arguments.add_all(modules, before_each = "--module")
    ctx.actions.run(
        executable = ctx.executable._build,
        arguments = [arguments],
        inputs = modules + ctx.files.headers + [ctx.file.doxyfile, ctx.file.index],
        tools = [ctx.file._doxygen],
        outputs = [site, warnings],
        mnemonic = "Reference",
        progress_message = "Writing the reference %{label}",
    )
    return [
        DefaultInfo(files = depset([site])),
        OutputGroupInfo(warnings = depset([warnings])),
    ]

reference_site = rule(
    implementation = _reference_site_impl,
    doc = """A folder of HTML: Doxygen's pages of C and C++ headers, pydoctor's of Python packages.

The output group `warnings` is a file with what both warn about; it is empty if there is nothing.""",
    attrs = {
        "doxyfile": attr.label(
            doc = "Doxygen's settings.",
            allow_single_file = True,
            mandatory = True,
        ),
        "headers": attr.label_list(
            doc = "The headers, and pages beside them.",
            allow_files = [
                ".h",
                ".md",
            ],
            mandatory = True,
        ),
        "index": attr.label(
            doc = "The first page.",
            allow_single_file = [".html"],
            mandatory = True,
        ),
        "packages": attr.label_list(
            doc = "The py_library of each package.",
            mandatory = True,
        ),
        "_build": attr.label(
            cfg = "exec",
            default = "//docs/reference:build",
            executable = True,
        ),
        "_doxygen": attr.label(
            allow_single_file = True,
            cfg = "exec",
            default = "@reference_tools//:doxygen",
        ),
    },
)
