"""The rule that unpacks wheels so that Python targets of this repository can import them.

Private: load `//tools/wheel:defs.bzl`.
"""

load("@rules_python//python:defs.bzl", "PyInfo")
load(":plugin_wheel.bzl", "WheelInfo")

def _wheel_env_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    wheels = [dep[WheelInfo].wheel for dep in ctx.attr.wheels]
    ctx.actions.run(
        outputs = [folder],
        inputs = wheels,
        executable = ctx.executable._unpack,
        arguments = [
            ctx.actions.args().add_all("--wheel", wheels).add_all("--target", [folder], expand_directories = False),
        ],
        mnemonic = "WheelEnv",
        progress_message = "Unpacking wheels into %{output}",
    )
    files = depset([folder])
    return [
        DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files)),
        PyInfo(
            imports = depset(["{}/{}".format(ctx.workspace_name, folder.short_path)]),
            transitive_sources = files,
            uses_shared_libraries = True,
        ),
    ]

wheel_env = rule(
    implementation = _wheel_env_impl,
    doc = """Unpacks wheels into one folder that stands for site-packages.

A py_binary or py_test with this target in its deps imports what the wheels hold, and `import torch`
finds their entry points, just as if pip had installed them.""",
    attrs = {
        "wheels": attr.label_list(
            doc = "Targets of plugin_wheel; no two may carry the same file.",
            mandatory = True,
            providers = [WheelInfo],
        ),
        "_unpack": attr.label(
            cfg = "exec",
            default = "//tools/wheel:unpack_wheel",
            executable = True,
        ),
    },
)
