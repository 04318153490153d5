"""dropin_library: a library with the soname, the symbols and the symbol versions of one of NVIDIA's."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//tools/cc:shared_library.bzl", "shared_library")

def _objects(dep):
    """Returns the objects that a cc_library itself is made of, not those of its dependencies' shared libraries."""
    return [
        object
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        for object in library.pic_objects or library.objects or []
    ]

def _dropin_stubs_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".c")
    script = ctx.actions.declare_file(ctx.label.name + ".map")
    objects = [object for dep in ctx.attr.deps for object in _objects(dep)]
    arguments = ctx.actions.args()
    given = [file for file in [ctx.file.real, ctx.file.names] if file]
    if ctx.file.real:
        arguments.add(ctx.file.real, format = "--real=%s")
    if ctx.file.names:
        arguments.add(ctx.file.names, format = "--names=%s")
    if ctx.attr.major:
        arguments.add(ctx.attr.major, format = "--major=%s")
    if ctx.attr.version:
        arguments.add(ctx.attr.version, format = "--version=%s")
    arguments.add_all(ctx.attr.null, format_each = "--null=%s")
    arguments.add(ctx.attr.soname, format = "--soname=%s")
    arguments.add(ctx.attr.status, format = "--status=%s")
    arguments.add(ctx.attr.status_name, format = "--status_name=%s")
    arguments.add_all(ctx.attr.extra, format_each = "--extra=%s")
    arguments.add(source, format = "--source=%s")
    arguments.add(script, format = "--version_script=%s")
    if ctx.attr.quiet:
        arguments.add("--quiet")
    if not ctx.attr.versioned:
        arguments.add("--unversioned")
    arguments.add_all(objects)
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = [arguments],
        inputs = objects + given,
        outputs = [source, script],
        mnemonic = "DropinStubs",
        progress_message = "Completing %s" % ctx.attr.soname,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([source])),
        OutputGroupInfo(version_script = depset([script])),
    ]

_dropin_stubs = rule(
    implementation = _dropin_stubs_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], doc = "What the library has."),
        "extra": attr.string_list(doc = "Names to export that the real library does not have."),
        "major": attr.string(doc = "The major version of CUDA whose names of the list are taken."),
        "names": attr.label(allow_single_file = True, doc = "A list of names that such a library has."),
        "null": attr.string_list(doc = "Names of functions that return addresses."),
        "quiet": attr.bool(doc = "Do not say on stderr that something is missing."),
        "real": attr.label(allow_single_file = True, doc = "NVIDIA's library, for its names."),
        "soname": attr.string(mandatory = True),
        "status": attr.int(mandatory = True, doc = "What functions that are missing return."),
        "status_name": attr.string(mandatory = True, doc = "The name of that status."),
        "version": attr.string(doc = "The version of the symbols, where it is not the soname."),
        "versioned": attr.bool(default = True, doc = "Whether the real library's symbols have its soname as version."),
        "_tool": attr.label(
            cfg = "exec",
            default = "//runtime/dropin:stubs",
            executable = True,
        ),
    },
    doc = "Writes functions for what NVIDIA's library exports and `deps` do not define, and a version script.",
)

def dropin_library(name, status, status_name, real = None, names = None, deps = [], links = [], extra = [], null = [], quiet = False, version = None, versioned = True, major = "", **kwargs):
    """Makes a library that takes the place of one of NVIDIA's.

    Args:
        name: string, the soname, such as `libcublas.so.12`, perhaps behind a folder.
        status: int, what a function returns that is missing.
        status_name: string, the name of that status in the library's API.
        real: label of NVIDIA's library, or of the stub library of its toolkit.
        names: label of a list of the names that it has to export, besides or instead.
        deps: labels of cc_library targets with the functions that are there.
        links: labels of shared_library targets that it needs at run time.
        extra: list of strings, names to export that the real library lacks.
        null: list of strings, functions that return an address: none, where they are missing.
        quiet: bool, whether functions that are missing keep silent.
        version: string, the version of the real library's symbols, where it is not the soname.
        versioned: bool, whether the real library's symbols have a version; else they have none.
        major: string, the major version of CUDA whose names of the list are taken.
        **kwargs: attributes common to all rules.
    """
    _dropin_stubs(
        name = name + "_stubs",
        real = real,
        names = names,
        deps = deps,
        extra = extra,
        major = major,
        null = null,
        quiet = quiet,
        soname = name.split("/")[-1],
        status = status,
        status_name = status_name,
        tags = kwargs.get("tags"),
        version = version,
        versioned = versioned,
    )
    native.filegroup(
        name = name + "_exports",
        srcs = [":%s_stubs" % name],
        output_group = "version_script",
        tags = kwargs.get("tags"),
    )
    cc_library(
        name = name + "_missing",
        srcs = [":%s_stubs" % name],
        alwayslink = True,
        linkstatic = True,
        tags = kwargs.get("tags"),
    )
    shared_library(
        name = name,
        manylinux = "//tools/cc/manylinux",
        # Of two major versions the libraries lie in folders below the ones that serve both.
        run_paths = ["$ORIGIN", "$ORIGIN/.."],
        deps = deps + links + [":%s_missing" % name],
        version_script = ":%s_exports" % name,
        **kwargs
    )

def _unversioned_library_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    library = ctx.actions.declare_file(ctx.label.name)
    names = ctx.actions.declare_file(ctx.label.name + ".c")
    script = ctx.file.exports
    ctx.actions.run_shell(
        command = "sed -n 's/^    \\([A-Za-z_][A-Za-z0-9_]*\\);$/void \\1(void) {}/p' %s > %s" % (script.path, names.path),
        inputs = [script],
        outputs = [names],
        mnemonic = "UnversionedNames",
    )
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = [
            "-shared",
            "-nostdlib",
            "-Wl,-soname," + (ctx.attr.own_soname or ctx.attr.soname),
            "-Wl,-F,$ORIGIN/" + ("../" if ctx.attr.own_soname else "") + ctx.attr.soname,
            "-Wl,--build-id=none",
            "-Wl,-z,relro,-z,now",
            "-Wl,--version-script," + script.path,
            names.path,
            "-o",
            library.path,
        ],
        inputs = depset([names, script], transitive = [toolchain.all_files]),
        outputs = [library],
        mnemonic = "UnversionedLibrary",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([library]), runfiles = ctx.runfiles([library]))]

_unversioned_library = rule(
    implementation = _unversioned_library_impl,
    attrs = {
        "exports": attr.label(allow_single_file = True, mandatory = True, doc = "The version script of the library."),
        "own_soname": attr.string(doc = "What the loader knows it by, where that is not the other library's name."),
        "soname": attr.string(mandatory = True),
    },
    doc = "A library of names alone, for which the loader takes those of another.",
    toolchains = use_cpp_toolchain(),
)

def unversioned_library(name, library, **kwargs):
    """Makes a library's second name, `libcuda.so` of `libcuda.so.1`: a wheel has no symbolic links.

    It is a filter (ld -F). A linker finds all names in it, and writes the library's own soname into the program. The
    loader finds none in it, but those of the library beside it, which is loaded once, whoever asks for it and how.
    `unversioned/NAME` is the same for the folder below: the loader knows it by its own name, so that a process that has
    loaded it finds it by that name, whatever its search path is.

    Args:
        name: string, the name without a version.
        library: label of the dropin_library, whose name is its soname, in the same package.
        **kwargs: attributes common to all rules.
    """
    for target, own_soname in {name: None, "unversioned/" + name: name}.items():
        _unversioned_library(
            name = target,
            exports = library + "_exports",
            own_soname = own_soname,
            soname = library.split(":")[-1],
            **kwargs
        )

def dropin_libraries(cuda12, cuda13, deps, real, deps13 = None, links = [], links12 = [], links13 = [], one_list = False, **kwargs):
    """Makes a library of CUDA 12 and its successor of CUDA 13, `cu13/NAME`, from the same objects.

    Args:
        cuda12: string, the soname of CUDA 12's, which is the name of its target.
        cuda13: string, the soname of CUDA 13's.
        deps: labels of cc_library targets with the functions that are there.
        real: label of CUDA 12's library in the toolkit.
        deps13: those of CUDA 13, where they are not the same.
        links: labels of shared_library targets that both need at run time.
        links12: labels of those that CUDA 12's needs besides.
        links13: labels of those that CUDA 13's needs besides.
        one_list: bool, whether the library has one soname in both, which its list of names has, too.
        **kwargs: attributes of dropin_library.
    """
    names = "//runtime/names:%s.txt" % (cuda12 if one_list else cuda12.split(".so")[0])
    dropin_library(
        name = cuda12,
        deps = deps,
        links = links + links12,
        major = "12",
        names = names,
        real = real,
        **kwargs
    )
    dropin_library(
        name = "cu13/" + cuda13,
        deps = deps13 or deps,
        links = links + links13,
        major = "13",
        names = names,
        **kwargs
    )
