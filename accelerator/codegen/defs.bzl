"""vendor_operators: a vendor's library of operators from a YAML and the kernels' sources.

    load("@torch_cuda//accelerator/codegen:defs.bzl", "vendor_operators")

    vendor_operators(
        name = "acme",
        srcs = ["kernels.cpp"],
        yaml = "operators.yaml",
    )
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//tools/cc:link_inputs.bzl", "link_inputs")
load("//tools/cc:shared_library.bzl", "shared_library")

def vendor_operators(name, yaml, srcs, deps = [], copts = [], visibility = None):
    """Builds a device's library of operators, and the report of what serves each operator.

    The sources include what is written from the YAML as "NAME/operators.h". A kernel of the YAML that no source defines
    is named with the YAML's line. Targets:
      libaccel_NAME_operators.so: the library, which belongs beside libaccel_NAME.so.
      NAME_report: NAME_report.md and NAME_report.json: native, fallback, missing and own operators.

    Args:
        name: string, the device library's name, namespace of its kernels and of operators of its own.
        yaml: label, the operators, in the syntax of native_functions.yaml (docs/vendors.md).
        srcs: list of labels, the kernels' sources and headers.
        deps: list of labels, what they need beside torch.
        copts: list of strings, for the kernels' sources.
        visibility: of all targets.
    """
    generated = name + "_generated"
    files = {
        "header": "%s_generated/operators.h" % name,
        "json": "%s_report.json" % name,
        "kernels": "%s_generated/kernels.json" % name,
        "markdown": "%s_report.md" % name,
        "source": "%s_generated/operators.cpp" % name,
    }
    native.genrule(
        name = generated,
        srcs = [yaml],
        outs = files.values(),
        cmd = "$(execpath %s) --device=%s --yaml=$(execpath %s) " % (_GENERATE, name, yaml) +
              " ".join(["--%s=$(execpath %s)" % (option, file) for option, file in files.items()]),
        tools = [_GENERATE],
    )
    native.filegroup(
        name = name + "_report",
        srcs = [files["json"], files["markdown"]],
        visibility = visibility,
    )
    torch = [Label("//accelerator/operators:table"), Label("@torch//:torch_cpu")]
    cc_library(
        name = name + "_operators_header",
        hdrs = [files["header"]],
        include_prefix = name,
        strip_include_prefix = name + "_generated",
        deps = torch,
    )
    cc_library(
        name = name + "_kernels",
        srcs = srcs + [files["source"]],
        # ATen's headers name what they leave unused, and so does what torchgen writes.
        copts = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function"] + copts,
        linkstatic = True,
        local_defines = ["AT_PER_OPERATOR_HEADERS"],
        deps = [":%s_operators_header" % name] + torch + deps,
        alwayslink = True,
    )
    _checked_kernels(
        name = name + "_checked_kernels",
        kernels = files["kernels"],
        library = ":%s_kernels" % name,
    )
    shared_library(
        name = "libaccel_%s_operators.so" % name,
        visibility = visibility,
        deps = [":%s_checked_kernels" % name],
    )

_GENERATE = Label("//accelerator/codegen:generate")

def _checked_kernels_impl(ctx):
    info = ctx.attr.library[CcInfo]
    objects = [
        object
        for object in link_inputs(info.linking_context).objects
        if object.owner == ctx.attr.library.label
    ]
    stamp = ctx.actions.declare_file(ctx.label.name + ".stamp")
    toolchain = find_cpp_toolchain(ctx)
    ctx.actions.run(
        outputs = [stamp],
        inputs = depset(objects + [ctx.file.kernels], transitive = [toolchain.all_files]),
        executable = ctx.executable._check,
        arguments = [
            ctx.actions.args().add("--kernels", ctx.file.kernels).add("--nm", toolchain.nm_executable)
                .add("--stamp", stamp).add_all(objects),
        ],
        mnemonic = "CheckKernels",
        progress_message = "Checking that all kernels of %{label} are defined",
    )

    # Who links the objects waits for the check.
    needed = cc_common.create_linker_input(owner = ctx.label, additional_inputs = depset([stamp]))
    return [CcInfo(
        compilation_context = info.compilation_context,
        linking_context = cc_common.create_linking_context(
            linker_inputs = depset([needed], transitive = [info.linking_context.linker_inputs]),
        ),
    )]

_checked_kernels = rule(
    implementation = _checked_kernels_impl,
    attrs = {
        "kernels": attr.label(allow_single_file = True, mandatory = True),
        "library": attr.label(mandatory = True, providers = [CcInfo]),
        "_check": attr.label(
            cfg = "exec",
            default = "//accelerator/codegen:check_kernels",
            executable = True,
        ),
    },
    doc = "The library, once all kernels of the YAML are found to be defined in it.",
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)
