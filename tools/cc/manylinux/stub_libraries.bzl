"""stub_libraries: a folder of libraries to link against, with no symbol newer than manylinux_2_28."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")

def _stub_libraries_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    folder = ctx.actions.declare_directory(ctx.label.name)
    (archive,) = [file for file in ctx.files.newer if file.extension == "a"]
    arguments = ctx.actions.args()
    arguments.add(toolchain.compiler_executable, format = "--compiler=%s")
    arguments.add(archive, format = "--newer=%s")
    arguments.add(folder.path, format = "--output=%s")
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = [arguments],
        inputs = depset([archive], transitive = [toolchain.all_files]),
        outputs = [folder],
        mnemonic = "StubLibraries",
        progress_message = "Writing what manylinux_2_28 promises",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([folder]))]

stub_libraries = rule(
    implementation = _stub_libraries_impl,
    attrs = {
        "newer": attr.label(
            mandatory = True,
            doc = "A cc_library, position independent, of what newer systems have and links here ask for.",
        ),
        "_tool": attr.label(
            cfg = "exec",
            default = "//tools/cc/manylinux:stub_libraries",
            executable = True,
        ),
    },
    doc = "A folder that `-L` and `-B` name before this machine's libraries.",
    toolchains = use_cpp_toolchain(),
)
