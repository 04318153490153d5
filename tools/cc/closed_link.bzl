"""closed_link: an extension module that refers to nothing but what the libraries it is loaded with define."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":link_inputs.bzl", "link_inputs")

def _closed_link_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    dependencies = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    inputs = link_inputs(dependencies.linking_context)
    libraries = inputs.libraries + inputs.files
    stamp = ctx.actions.declare_file(ctx.label.name + ".closed")
    arguments = ctx.actions.args()
    arguments.add("--library", ctx.file.library)
    arguments.add_all("--with", libraries)
    arguments.add("--compiler", toolchain.compiler_executable)
    arguments.add("--advice", ctx.attr.advice)
    arguments.add("--stamp", stamp)
    ctx.actions.run(
        executable = ctx.executable._closed_link,
        arguments = [arguments],
        inputs = depset([ctx.file.library] + libraries, transitive = [toolchain.all_files]),
        outputs = [stamp],
        mnemonic = "ClosedLink",
        progress_message = "Looking for what %s refers to" % ctx.file.library.short_path,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([ctx.file.library])),
        OutputGroupInfo(
            # Part of every build that the library is part of, beside what is made of it.
            _validation = depset([stamp]),
        ),
    ]

closed_link = rule(
    implementation = _closed_link_impl,
    attrs = {
        "advice": attr.string(
            mandatory = True,
            doc = "What the message about a symbol that is not defined ends with: what to change.",
        ),
        "deps": attr.label_list(
            mandatory = True,
            providers = [CcInfo],
            doc = "The shared libraries that it is loaded with.",
        ),
        "library": attr.label(
            allow_single_file = True,
            mandatory = True,
            doc = "The extension module.",
        ),
        "_closed_link": attr.label(
            cfg = "exec",
            default = "//tools/cc:closed_link",
            executable = True,
        ),
    },
    doc = """The library itself; the build fails where it refers to what no library defines.

shared_library has the linker see to that. An extension module takes its Python from the interpreter, with which it is not
linked, and would fail when it is imported.""",
    toolchains = use_cpp_toolchain(),
)
