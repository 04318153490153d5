"""op_registrations: the C++ that registers an op profile's operators for CUDA, and whether the profile is closed."""

load("//aten_cuda/profiles:defs.bzl", "OpProfileInfo")

# The same list as OUTPUTS of generate.py, by output group.
_OUTPUTS = {
    "cpp": [
        "RegisterCUDA.cpp",
        "RegisterNestedTensorCUDA.cpp",
        "RegisterQuantizedCUDA.cpp",
        "RegisterSparseCUDA.cpp",
        "RegisterSparseCsrCUDA.cpp",
    ],
    "cuda": ["UfuncCUDA_add.cu"],
    "registrations": ["registrations.json"],
    "shim": ["c_shim_cuda.cpp"],
}

def _op_registrations_impl(ctx):
    profile = ctx.attr.profile
    folder = ctx.label.name
    groups = {
        group: [ctx.actions.declare_file(folder + "/" + name) for name in names]
        for group, names in _OUTPUTS.items()
    }
    outputs = [file for files in groups.values() for file in files]

    args = ctx.actions.args()
    args.add("--pytorch-root", ctx.file.pytorch_marker.dirname)
    args.add("--out", outputs[0].dirname)
    inputs = []
    if profile[OpProfileInfo].full:
        args.add("--profile", "full")
    else:
        inputs = profile[DefaultInfo].files.to_list()
        args.add("--profile", inputs[0])
    ctx.actions.run(
        executable = ctx.executable._generate,
        arguments = [args],
        inputs = depset(inputs + [ctx.file.pytorch_marker], transitive = [ctx.attr.torchgen[DefaultInfo].files]),
        outputs = outputs,
        mnemonic = "OpRegistrations",
        progress_message = "Generating CUDA registrations for %s" % profile.label,
        # torchgen is imported from its sources: no compiled Python is to be left beside them.
        env = {"PYTHONDONTWRITEBYTECODE": "1"},
        use_default_shell_env = True,
    )
    verdict = [] if profile[OpProfileInfo].full else [_verdict(ctx, inputs[0])]
    return [
        DefaultInfo(files = depset(outputs)),
        OutputGroupInfo(
            # Part of every build that these registrations are part of, beside the compilations.
            _validation = depset(verdict),
            **{group: depset(files) for group, files in groups.items()}
        ),
    ]

def _verdict(ctx, profile):
    """Declares the action that fails where the profile names what is not there, or leaves a dispatch stub empty."""
    verdict = ctx.actions.declare_file(ctx.label.name + ".verdict")
    core = ctx.attr._core[DefaultInfo].files.to_list()[0]
    args = ctx.actions.args()
    args.add("build")
    args.add("--pytorch-root", ctx.file.pytorch_marker.dirname)
    args.add("--profile", profile)
    args.add("--core", core)
    args.add("--outside", ctx.file._outside)
    args.add("--out", verdict)
    args.add_all(ctx.files._index, before_each = "--index")
    ctx.actions.run(
        executable = ctx.executable._closure,
        arguments = [args],
        inputs = depset(
            [profile, core, ctx.file._outside, ctx.file.pytorch_marker] + ctx.files._index,
            transitive = [ctx.attr.torchgen[DefaultInfo].files],
        ),
        outputs = [verdict],
        mnemonic = "OpProfileVerdict",
        progress_message = "Holding %s against PyTorch's sources" % ctx.attr.profile.label,
        env = {"PYTHONDONTWRITEBYTECODE": "1"},
        use_default_shell_env = True,
    )
    return verdict

op_registrations = rule(
    implementation = _op_registrations_impl,
    doc = """Runs torchgen for an op profile.

Writes NAME/ with one Register*.cpp for each of CUDA's dispatch keys (output group `cpp`), the kernels that torchgen
itself writes (`cuda`), AOTInductor's c_shim_cuda.cpp (`shim`) and registrations.json, the list of what is registered
(`registrations`). Headers need not be generated: a CPU build of PyTorch installs those of CUDA too.""",
    attrs = {
        "profile": attr.label(
            doc = "The op_profile, such as //config:ops.",
            mandatory = True,
            providers = [OpProfileInfo],
        ),
        "pytorch_marker": attr.label(
            allow_single_file = True,
            default = "@pytorch//:version.txt",
            doc = "A file in the root of the PyTorch tree.",
        ),
        "torchgen": attr.label(
            default = "@pytorch//:torchgen_files",
            doc = "torchgen, its templates and native_functions.yaml.",
        ),
        "_closure": attr.label(
            cfg = "exec",
            default = "//aten_cuda/codegen:closure",
            executable = True,
        ),
        "_core": attr.label(default = "//aten_cuda/profiles:core"),
        "_generate": attr.label(
            cfg = "exec",
            default = "//aten_cuda/codegen:generate",
            executable = True,
        ),
        "_index": attr.label(default = "//aten_cuda/codegen:index_of_sources"),
        "_outside": attr.label(
            allow_single_file = True,
            default = "//aten_cuda/profiles:outside_core.txt",
        ),
    },
)
