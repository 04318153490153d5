"""op_registrations: the C++ that registers an op profile's operators for CUDA."""

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
    return [
        DefaultInfo(files = depset(outputs)),
        OutputGroupInfo(**{group: depset(files) for group, files in groups.items()}),
    ]

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
        "_generate": attr.label(
            cfg = "exec",
            default = "//aten_cuda/codegen:generate",
            executable = True,
        ),
    },
)
