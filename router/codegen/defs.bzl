"""vendor_operators: a vendor's libraries of operators from a YAML and the kernels' sources.

    load("@torch_cuda//router/codegen:defs.bzl", "vendor_operators")

    vendor_operators(
        name = "acme",
        srcs = ["kernels.cpp"],
        torch = ["2.12", "2.15"],
        yaml = "operators.yaml",
    )
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@torch//:torch.bzl", "TORCH")
load("//third_party/stock_torch:versions.bzl", "STOCK_TORCH")
load("//tools/cc:link_inputs.bzl", "link_inputs")
load("//tools/cc:shared_library.bzl", "shared_library")

def vendor_operators(name, yaml, srcs, deps = [], copts = [], torch = None, visibility = None):
    """Builds a device's libraries of operators, one for each version of PyTorch, and the reports of what serves each operator.

    The sources include what is written from the YAML as "NAME/operators.h". A kernel of the YAML that no source defines
    is named with the YAML's line. Targets, for each MINOR of `torch`:
      libaccel_NAME_operators-MINOR.so: the library, which belongs beside libaccel_NAME.so (operator_libraries).
      NAME_report: NAME_report-MINOR.md and NAME_report-MINOR.json: native, fallback, missing and own operators.
    Without `torch` the names are without "-MINOR".

    Args:
        name: string, the device library's name, namespace of its kernels and of operators of its own.
        yaml: label, the operators, in the syntax of native_functions.yaml (docs/vendors.md).
        srcs: list of labels, the kernels' sources and headers. Where versions of PyTorch differ, they ask for
            TORCH_VERSION_MINOR of <torch/version.h>.
        deps: list of labels, what they need beside torch.
        copts: list of strings, for the kernels' sources.
        torch: list of strings, minor versions of PyTorch such as "2.15": those of PyPI's that
            //third_party/stock_torch:versions.bzl has, and that of the source-built way. None: the source-built way alone.
        visibility: of all targets.
    """
    reports = []
    for version in torch if torch != None else [None]:
        reports += _operators(name, version, yaml, srcs, deps, copts, visibility)
    native.filegroup(
        name = name + "_report",
        srcs = reports,
        visibility = visibility,
    )

def operator_libraries(name, folder, torch, package = ""):
    """What a wheel of a device has of vendor_operators: for `native` of library_wheel.

    Args:
        name: string, as in vendor_operators.
        folder: string, the folder in the wheel where libaccel_NAME.so lies.
        torch: list of strings, as in vendor_operators.
        package: string, the package that calls vendor_operators, such as "//npu"; the caller's if empty.

    Returns:
        dict of label to path in the wheel.
    """
    libraries = ["libaccel_%s_operators-%s.so" % (name, minor) for minor in torch]
    return {package + ":" + library: folder + "/" + library for library in libraries}

# The version of the torch that is built against in the source-built way.
_SOURCE = ".".join(TORCH["public_version"].split(".")[:2])

# What a program has that has imported torch.
_ABSENT = [
    "libc10.so",
    "libtorch_cpu.so",
]

def _settings(minor):
    """What differs from one version to the other: generator, headers, flags, and what is linked to."""
    if minor == None or (minor == _SOURCE and minor not in STOCK_TORCH):
        return struct(
            copts = [],
            deps = [Label("@torch//:torch_cpu")],
            generate = Label("//router/codegen:generate"),
            link = {},
            version = _SOURCE,
        )
    if minor not in STOCK_TORCH:
        fail(("vendor_operators: found torch %r; needed one of %s (PyPI's), or %s (source-built). Another version of " +
              "PyPI's is a row in //third_party/stock_torch:versions.bzl of torch_cuda, as docs/porting.md says.") %
             (minor, ", ".join(STOCK_TORCH), _SOURCE))
    return struct(
        copts = ["-std=" + STOCK_TORCH[minor].std],
        deps = [Label("@stock_torch_%s//:headers" % minor.replace(".", "_"))],
        generate = Label("//router/codegen:generate-" + minor),
        link = {
            "absent": _ABSENT,
            "manylinux": Label("//tools/cc/manylinux"),
        },
        version = minor,
    )

def _operators(name, minor, yaml, srcs, deps, copts, visibility):
    """Declares the library for one version; returns the files of its report."""
    settings = _settings(minor)
    suffix = "-" + minor if minor else ""
    generated = name + "_generated" + suffix
    files = {
        "header": "%s/operators.h" % generated,
        "json": "%s_report%s.json" % (name, suffix),
        "kernels": "%s/kernels.json" % generated,
        "markdown": "%s_report%s.md" % (name, suffix),
        "source": "%s/operators.cpp" % generated,
    }
    native.genrule(
        name = generated,
        srcs = [yaml],
        outs = files.values(),
        cmd = "$(execpath %s) --torch=%s --device=%s --yaml=$(execpath %s) " % (settings.generate, settings.version, name, yaml) +
              " ".join(["--%s=$(execpath %s)" % (option, file) for option, file in files.items()]),
        tools = [settings.generate],
    )
    torch = [Label("//router/operators:table_header")] + settings.deps
    header = "%s_operators_header%s" % (name, suffix)
    kernels = "%s_kernels%s" % (name, suffix)
    checked = "%s_checked_kernels%s" % (name, suffix)
    cc_library(
        name = header,
        hdrs = [files["header"]],
        include_prefix = name,
        strip_include_prefix = generated,
        deps = torch,
    )
    cc_library(
        name = kernels,
        srcs = srcs + [files["source"]],
        # ATen's headers name what they leave unused, and so does what torchgen writes.
        copts = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function"] + settings.copts + copts,
        linkstatic = True,
        local_defines = ["AT_PER_OPERATOR_HEADERS"],
        deps = [":" + header] + torch + deps,
        alwayslink = True,
    )
    _checked_kernels(
        name = checked,
        kernels = files["kernels"],
        library = ":" + kernels,
    )
    shared_library(
        name = "libaccel_%s_operators%s.so" % (name, suffix),
        visibility = visibility,
        deps = [":" + checked],
        **settings.link
    )
    return [files["json"], files["markdown"]]

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
            default = "//router/codegen:check_kernels",
            executable = True,
        ),
    },
    doc = "The library, once all kernels of the YAML are found to be defined in it.",
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)
