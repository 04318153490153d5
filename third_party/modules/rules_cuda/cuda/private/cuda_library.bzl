"""cuda_library: compiles CUDA C++ with nvcc and offers the objects to C++ rules."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":providers.bzl", "CudaToolkitInfo")

def _expand(ctx, options):
    """Expands $(VARIABLES) of the `toolchains` attribute; a variable may hold several options."""
    expanded = []
    for option in options:
        expanded.extend(ctx.expand_make_variables("copts", option, {}).split(" "))
    return [option for option in expanded if option]

def _object(ctx, toolkit, src, headers, compilation, flags):
    """Declares the action that compiles one file; returns its object."""
    name = "_objs/%s/%s" % (ctx.label.name, src.basename)
    object = ctx.actions.declare_file(name + ".o")
    depfile = ctx.actions.declare_file(name + ".d")
    unused = ctx.actions.declare_file(name + ".unused")

    inputs = ctx.actions.declare_file(name + ".inputs")
    listing = ctx.actions.args()
    listing.set_param_file_format("multiline")
    listing.add_all(headers)
    ctx.actions.write(inputs, listing)

    arguments = ctx.actions.args()
    arguments.add(ctx.file._compile)
    arguments.add(depfile)
    arguments.add(unused)
    arguments.add(inputs)
    arguments.add("--")
    arguments.add(toolkit.nvcc)
    arguments.add("-ccbin", toolkit.host_compiler)
    arguments.add_all(["-x", "cu", "-c"])
    arguments.add(src)
    arguments.add("-o", object)
    arguments.add("-MD")
    arguments.add("-MF", depfile)
    arguments.add_all(flags)
    arguments.add_all(compilation.quote_includes, format_each = "-Xcompiler=-iquote,%s")
    arguments.add_all(compilation.includes, before_each = "-I")
    arguments.add_all(compilation.system_includes, before_each = "-isystem")
    arguments.add_all(compilation.defines, before_each = "-D")
    ctx.actions.run(
        executable = "/usr/bin/env",
        arguments = ["python3", "-S", "-B", arguments],
        inputs = depset([src, inputs, ctx.file._compile], transitive = [headers, toolkit.files]),
        outputs = [object, depfile, unused],
        unused_inputs_list = unused,
        mnemonic = "CudaCompile",
        progress_message = "Compiling " + src.short_path,
        use_default_shell_env = True,
    )
    return object

def _cuda_library_impl(ctx):
    toolkit = ctx.attr._toolkit[CudaToolkitInfo]
    cc_toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    dependencies = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    compilation = dependencies.compilation_context
    headers = depset(ctx.files.hdrs, transitive = [compilation.headers])
    flags = _expand(ctx, ctx.attr.copts)
    flags += ["-Xcompiler=" + option for option in _expand(ctx, ctx.attr.host_copts) + ["-fPIC"]]
    flags += ["-Xptxas=" + option for option in _expand(ctx, ctx.attr.ptxasopts)]
    flags += ["-D" + define for define in ctx.attr.defines + ctx.attr.local_defines]
    objects = depset([_object(ctx, toolkit, src, headers, compilation, flags) for src in ctx.files.srcs])

    outputs = cc_common.create_compilation_outputs(objects = objects, pic_objects = objects)
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        compilation_outputs = outputs,
        user_link_flags = ctx.attr.linkopts,
        alwayslink = ctx.attr.alwayslink,
        disallow_dynamic_library = True,
    ) if ctx.files.srcs else (cc_common.create_linking_context(linker_inputs = depset()), None)
    own = CcInfo(
        compilation_context = cc_common.create_compilation_context(
            headers = depset(ctx.files.hdrs),
            defines = depset(ctx.attr.defines),
        ),
        linking_context = linking,
    )
    return [
        DefaultInfo(files = objects),
        OutputGroupInfo(compilation_outputs = objects),
        cc_common.merge_cc_infos(cc_infos = [own, dependencies]),
    ]

cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"], doc = "CUDA C++ units; each is one action."),
        "hdrs": attr.label_list(allow_files = True, doc = "Headers of this library."),
        "deps": attr.label_list(providers = [CcInfo], doc = "C++ and CUDA libraries whose headers and objects are needed."),
        "copts": attr.string_list(doc = "Options of nvcc; $(VARIABLES) of `toolchains` are expanded."),
        "host_copts": attr.string_list(doc = "Options of the host compiler."),
        "ptxasopts": attr.string_list(doc = "Options of ptxas."),
        "defines": attr.string_list(doc = "Macros, passed on to dependents."),
        "local_defines": attr.string_list(doc = "Macros of these units only."),
        "linkopts": attr.string_list(doc = "Options of the link that these objects end up in."),
        "alwayslink": attr.bool(default = False, doc = "Whether all objects are linked, referenced or not."),
        "_toolkit": attr.label(default = "@cuda//:toolkit", providers = [CudaToolkitInfo]),
        "_compile": attr.label(default = "//cuda/private:compile.py", allow_single_file = True),
    },
    doc = "Compiles CUDA C++ with nvcc.",
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)
