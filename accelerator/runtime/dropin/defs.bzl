"""dropin_library: a library with the soname, the symbols and the symbol versions of one of NVIDIA's."""

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
    arguments.add(ctx.file.real, format = "--real=%s")
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
        inputs = objects + [ctx.file.real],
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
        "quiet": attr.bool(doc = "Do not say on stderr that something is missing."),
        "real": attr.label(mandatory = True, allow_single_file = True, doc = "NVIDIA's library, for its names."),
        "soname": attr.string(mandatory = True),
        "status": attr.int(mandatory = True, doc = "What functions that are missing return."),
        "status_name": attr.string(mandatory = True, doc = "The name of that status."),
        "versioned": attr.bool(default = True, doc = "Whether the real library's symbols have its soname as version."),
        "_tool": attr.label(
            cfg = "exec",
            default = "//accelerator/runtime/dropin:stubs",
            executable = True,
        ),
    },
    doc = "Writes functions for what NVIDIA's library exports and `deps` do not define, and a version script.",
)

def dropin_library(name, real, status, status_name, deps = [], links = [], extra = [], quiet = False, versioned = True, **kwargs):
    """Makes a library that takes the place of one of NVIDIA's.

    Args:
        name: string, the soname, such as `libcublas.so.12`.
        real: label of NVIDIA's library, or of the stub library of its toolkit.
        status: int, what a function returns that is missing.
        status_name: string, the name of that status in the library's API.
        deps: labels of cc_library targets with the functions that are there.
        links: labels of shared_library targets that it needs at run time.
        extra: list of strings, names to export that the real library lacks.
        quiet: bool, whether functions that are missing keep silent.
        versioned: bool, whether the real library's symbols have its soname as their version; else they have none.
        **kwargs: attributes common to all rules.
    """
    _dropin_stubs(
        name = name + "_stubs",
        real = real,
        deps = deps,
        extra = extra,
        quiet = quiet,
        soname = name,
        status = status,
        status_name = status_name,
        tags = kwargs.get("tags"),
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
        deps = deps + links + [":%s_missing" % name],
        version_script = ":%s_exports" % name,
        **kwargs
    )
