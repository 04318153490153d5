"""shared_library: links objects into one shared library that names what it needs and nothing else.

Bazel's own rules leave run paths into the build tree in what they link; a library in a wheel must find its neighbours by
`$ORIGIN` and everything else by its soname. The link is closed: a reference that no library given here defines is an
error, but for a library that names absent ones.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":link_inputs.bzl", "link_inputs")

def _make_absent(ctx, toolchain, soname):
    """An empty library of a name, which the loader takes the program's for."""
    library = ctx.actions.declare_file("%s.absent/%s" % (ctx.attr.name, soname))
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = ["-shared", "-nostdlib", "-Wl,-soname," + soname, "-Wl,--build-id=none", "-x", "c", "/dev/null", "-o", library.path],
        inputs = toolchain.all_files,
        outputs = [library],
        mnemonic = "AbsentLibrary",
        use_default_shell_env = True,
    )
    return library

def _shared_library_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    dependencies = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    inputs = link_inputs(dependencies.linking_context, ctx.attr.link_order)
    library = ctx.actions.declare_file(ctx.attr.name)
    absent = [_make_absent(ctx, toolchain, soname) for soname in ctx.attr.absent]

    arguments = ctx.actions.args()
    arguments.set_param_file_format("multiline")
    arguments.use_param_file("@%s", use_always = True)
    arguments.add("-shared")
    arguments.add("-o", library)
    arguments.add(library.basename, format = "-Wl,-soname,%s")
    if absent:
        arguments.add("-Wl,--no-as-needed")
        arguments.add_all(absent)
        arguments.add("-Wl,--unresolved-symbols=ignore-all")
    else:
        arguments.add("-Wl,--no-undefined")
    arguments.add_all(["-Wl,--as-needed", "-Wl,-z,relro,-z,now", "-Wl,--build-id=none"])
    arguments.add_all(ctx.attr.run_paths, format_each = "-Wl,-rpath,%s")
    for folder in ctx.files.manylinux:
        arguments.add_all(["-L" + folder.path, "-Wl,--exclude-libs,libnewer.a"])
    if ctx.file.version_script:
        arguments.add(ctx.file.version_script, format = "-Wl,--version-script=%s")
    arguments.add_all(inputs.objects)
    arguments.add_all(inputs.libraries)
    arguments.add_all(inputs.flags)
    arguments.add_all(["-lstdc++", "-lm", "-ldl", "-lpthread", "-lrt"])
    arguments.add_all(ctx.fragments.cpp.linkopts)
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = [arguments],
        inputs = depset(absent + inputs.objects + inputs.libraries + inputs.files + ctx.files.version_script + ctx.files.manylinux, transitive = [toolchain.all_files]),
        outputs = [library],
        mnemonic = "SharedLibraryLink",
        progress_message = "Linking %{output}",
        use_default_shell_env = True,
    )

    # Dependents link to the file itself: no run path, and the soname is what they record.
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        user_link_flags = depset([library.path]),
        additional_inputs = depset([library]),
    )
    return [
        DefaultInfo(files = depset([library]), runfiles = ctx.runfiles([library])),
        CcInfo(
            compilation_context = dependencies.compilation_context,
            linking_context = cc_common.create_linking_context(linker_inputs = depset([linker_input])),
        ),
    ]

shared_library = rule(
    implementation = _shared_library_impl,
    attrs = {
        "absent": attr.string_list(
            doc = "Sonames of libraries that a program has when it loads this one, and that the build has not: what is " +
                  "not defined is theirs, as the loader finds out.",
        ),
        "deps": attr.label_list(
            mandatory = True,
            providers = [CcInfo],
            doc = "Libraries: all objects of static ones are linked in, shared_library targets are linked to.",
        ),
        "link_order": attr.string_list(
            doc = "Targets, as \"package:name\", whose objects are linked in this order, which is that of their static " +
                  "initialisers; objects of other targets come first.",
        ),
        "manylinux": attr.label(
            doc = "//tools/cc/manylinux, for a library that runs on each system that manylinux_2_28 promises, older ones " +
                  "than this.",
        ),
        "run_paths": attr.string_list(
            default = ["$ORIGIN"],
            doc = "Where the loader looks for the libraries that this one needs.",
        ),
        "version_script": attr.label(
            allow_single_file = True,
            doc = "The linker's version script: which symbols are exported, and under which version.",
        ),
    },
    doc = "A shared library; the target's name is its soname.",
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)
