"""cuda_library: compiles CUDA C++ with nvcc and offers the objects to C++ rules."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":archs.bzl", "gencode", "parse_archs")
load(":providers.bzl", "CudaArchsInfo", "CudaToolkitInfo")

# What the rules decide themselves, as rules_cuda refuses it too.
_REFUSED_OPTIONS = ["--generate-code", "-gencode", "--gpu-architecture", "-arch", "--gpu-code", "-code", "-rdc", "--relocatable-device-code"]

def _checked(ctx, options):
    for option in options:
        for refused in _REFUSED_OPTIONS:
            if option.startswith(refused):
                fail("%s: %s is not for copts; architectures come from --@rules_cuda//cuda:archs or the attribute archs." % (ctx.label, option))
    return options

def _host_flags(cc_toolchain, features):
    """Returns the options that the C++ toolchain gives every compilation, less those that nvcc itself sets."""
    variables = cc_common.create_compile_variables(
        cc_toolchain = cc_toolchain,
        feature_configuration = features,
    )
    command = cc_common.get_memory_inefficient_command_line(
        action_name = ACTION_NAMES.cpp_compile,
        feature_configuration = features,
        variables = variables,
    )
    return [option for option in command if option != "-c" and not option.startswith("-std=")]

def _object(ctx, toolkit, host_compiler, src, headers, compilation, flags):
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
    arguments.add("-ccbin", host_compiler)
    arguments.add_all(["-x", "cu", "-c"])
    arguments.add(src)
    arguments.add("-o", object)
    arguments.add("-MD")
    arguments.add("-MF", depfile)
    arguments.add_all(flags)
    arguments.add_all(compilation.quote_includes, before_each = "-I")
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
    dependencies = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps + [ctx.attr._runtime]])
    compilation = dependencies.compilation_context
    headers = depset(ctx.files.hdrs, transitive = [compilation.headers])
    archs = parse_archs(";".join(ctx.attr.archs)) if ctx.attr.archs else ctx.attr._archs[CudaArchsInfo].arch_specs
    host_copts = _host_flags(cc_toolchain, features) + ctx.attr._host_copts[BuildSettingInfo].value + ctx.attr.host_copts
    flags = gencode(archs)
    flags += ["-Xcompiler=" + option for option in host_copts + ["-fPIC"]]
    flags += ctx.attr._copts[BuildSettingInfo].value + _checked(ctx, ctx.attr.copts)
    flags += ["-Xptxas=" + option for option in ctx.attr.ptxasopts]
    flags += ["-D" + define for define in ctx.attr.defines + ctx.attr.local_defines + ctx.attr.host_defines + ctx.attr.host_local_defines]
    host_compiler = cc_common.get_tool_for_action(
        action_name = ACTION_NAMES.cpp_compile,
        feature_configuration = features,
    )
    objects = depset([_object(ctx, toolkit, host_compiler, src, headers, compilation, flags) for src in ctx.files.srcs])

    outputs = cc_common.create_compilation_outputs(objects = objects, pic_objects = objects)
    linking, linked = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        compilation_outputs = outputs,
        user_link_flags = ctx.attr.host_linkopts,
        alwayslink = ctx.attr.alwayslink,
        disallow_dynamic_library = True,
    ) if ctx.files.srcs else (cc_common.create_linking_context(linker_inputs = depset()), None)
    archive = linked.library_to_link.pic_static_library if linked and linked.library_to_link else None
    own = CcInfo(
        compilation_context = cc_common.create_compilation_context(
            headers = depset(ctx.files.hdrs),
            defines = depset(ctx.attr.defines + ctx.attr.host_defines),
        ),
        linking_context = linking,
    )
    return [
        DefaultInfo(files = depset([archive] if archive else [])),
        OutputGroupInfo(pic_objects = objects),
        cc_common.merge_cc_infos(cc_infos = [own, dependencies]),
    ]

cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"], doc = "CUDA C++ units; each is one action."),
        "hdrs": attr.label_list(allow_files = True, doc = "Headers of this library."),
        "deps": attr.label_list(providers = [CcInfo], doc = "C++ and CUDA libraries whose headers and objects are needed."),
        "archs": attr.string_list(doc = "Architectures of these units alone, each as in --@rules_cuda//cuda:archs."),
        "copts": attr.string_list(doc = "Options of nvcc."),
        "host_copts": attr.string_list(doc = "Options of the host compiler."),
        "ptxasopts": attr.string_list(doc = "Options of ptxas."),
        "defines": attr.string_list(doc = "Macros, passed on to dependents."),
        "local_defines": attr.string_list(doc = "Macros of these units only."),
        "host_defines": attr.string_list(doc = "Macros, passed on to dependents."),
        "host_local_defines": attr.string_list(doc = "Macros of these units only."),
        "host_linkopts": attr.string_list(doc = "Options of the link that these objects end up in."),
        "alwayslink": attr.bool(default = False, doc = "Whether all objects are linked, referenced or not."),
        "_archs": attr.label(default = "//cuda:archs"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_compile": attr.label(default = "//cuda/private:compile.py", allow_single_file = True),
        "_copts": attr.label(default = "//cuda:copts"),
        "_host_copts": attr.label(default = "//cuda:host_copts"),
        "_runtime": attr.label(default = "//cuda:runtime"),
        "_toolkit": attr.label(default = "@cuda//:toolkit", providers = [CudaToolkitInfo]),
    },
    doc = "Compiles CUDA C++ with nvcc.",
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)
