"""op_profile: which operators a build registers for CUDA, and which of PyTorch's kernel files they need.

What lives here: the rule, its provider and the two targets that stand for "core" and "full". What a name in
`operators` may look like is told in docs/op-profiles.md.
"""

OpProfileInfo = provider(
    doc = "A choice of operators together with the kernel files that implement them.",
    fields = {
        "full": "bool: everything that upstream builds; `selections` and `kernels` are then empty.",
        "kernels": "depset of string: files below aten/src/ATen that the operators need, such as `native/cuda/Copy.cu`.",
        "left_out": "depset of string: dispatch stubs and operators that the profile knowingly does without.",
        "selections": "depset of struct(label, operators, backends): one for each op_profile target that takes part.",
    },
)

# Units that others refer to from functions that a profile may leave out, with our file that defines what they
# would. A library compiles the second where the profile does not select the first.
KERNEL_SUBSTITUTES = {
    "cuda/Sleep.cu": "//aten_cuda/codegen:substitutes/sleep.cpp",
    "cuda/jiterator.cu": "//aten_cuda/codegen:substitutes/jiterator.cpp",
    "native/cuda/Copy.cu": "//aten_cuda/codegen:substitutes/copy.cpp",
    "native/cuda/RowwiseScaledMM.cu": "//aten_cuda/codegen:substitutes/rowwise_scaled_mm.cpp",
    "native/cuda/TensorFactories.cu": "//aten_cuda/codegen:substitutes/tensor_factories.cpp",
}

# Units of native that the bindings and CUDA's hooks refer to: they are in every build, whatever its profile. A build in
# which one is missing fails: the linker names the symbol for libtorch_cuda, //python/csrc:bindings for _CUDAC.
RUNTIME_KERNELS = [
    "native/cuda/Resize.cpp",
    "native/cuda/SpectralOps.cpp",
    "native/cuda/jit_utils.cpp",
    "native/transformers/cuda/sdp_utils.cpp",
]

_BACKENDS = ["CUDA", "NestedTensorCUDA", "QuantizedCUDA", "SparseCUDA", "SparseCsrCUDA"]

def _op_profile_impl(ctx):
    for kernel in ctx.attr.kernels:
        if not kernel.endswith((".cu", ".cpp")):
            fail("%s: kernels name .cu or .cpp files below aten/src/ATen; found %r" % (ctx.label, kernel))
    for backend in ctx.attr.backends:
        if backend not in _BACKENDS:
            fail("%s: no such backend: %r; known are %s" % (ctx.label, backend, ", ".join(_BACKENDS)))

    parts = [dep[OpProfileInfo] for dep in ctx.attr.deps]
    if ctx.attr.full and (ctx.attr.operators or ctx.attr.kernels or parts):
        fail("%s: a full profile takes everything; remove operators, kernels and deps" % ctx.label)
    own = [struct(
        label = str(ctx.label),
        operators = tuple(ctx.attr.operators),
        backends = tuple(ctx.attr.backends),
    )] if ctx.attr.operators else []
    selections = depset(own, transitive = [part.selections for part in parts])
    kernels = depset(ctx.attr.kernels, transitive = [part.kernels for part in parts])
    left_out = depset(ctx.attr.left_out, transitive = [part.left_out for part in parts])
    full = ctx.attr.full or any([part.full for part in parts])

    # The tools read the profile from this file; Bazel rules read the provider.
    manifest = ctx.actions.declare_file(ctx.label.name + ".profile.json")
    ctx.actions.write(manifest, json.encode_indent({
        "full": full,
        "kernels": sorted(kernels.to_list()),
        "name": str(ctx.label),
        "runtime_kernels": RUNTIME_KERNELS,
        "selections": selections.to_list(),
        "left_out": sorted(left_out.to_list()),
    }, indent = "  ") + "\n")
    return [
        DefaultInfo(files = depset([manifest]), runfiles = ctx.runfiles([manifest])),
        OpProfileInfo(
            full = full,
            kernels = kernels,
            selections = selections,
            left_out = left_out,
        ),
    ]

op_profile = rule(
    implementation = _op_profile_impl,
    doc = """Names operators and the kernel files they need.

Profiles compose: a profile has its own operators and kernels and those of its deps. Give the label of one to
`--//config:ops=`. Its default output, NAME.profile.json, is what aten_cuda/codegen's tools read.""",
    attrs = {
        "backends": attr.string_list(
            default = ["CUDA"],
            doc = "Dispatch keys for which `operators` are registered: CUDA, NestedTensorCUDA, QuantizedCUDA, SparseCUDA, SparseCsrCUDA.",
        ),
        "deps": attr.label_list(
            doc = "Profiles that this one extends.",
            providers = [OpProfileInfo],
        ),
        "full": attr.bool(
            doc = "Take every operator and every kernel file; excludes all other attributes.",
        ),
        "kernels": attr.string_list(
            doc = "Files below aten/src/ATen that `operators` need. `closure.py needs` prints them.",
        ),
        "operators": attr.string_list(
            doc = "Operators by name (`add`), by overload (`add.Tensor`), by pattern (`_foreach_*`), or left out again (`!add.Scalar`).",
        ),
        "left_out": attr.string_list(
            doc = "Dispatch stubs and operators, by name or pattern, that functions of `operators` use only on a path that the profile leaves out, such as quantized tensors.",
        ),
    },
    provides = [OpProfileInfo],
)

def kernel_selected(profile, path):
    """Whether a build with this profile compiles a unit.

    Units of ATen/cuda belong to every build (the runtime's bindings use them), except for CUB's sorts and scans; so do
    RUNTIME_KERNELS. A profile without any .cu is built without nvcc: KERNEL_SUBSTITUTES take the place of ATen/cuda's.

    Args:
      profile: OpProfileInfo.
      path: string, the unit's path below aten/src/ATen, such as `native/cuda/Copy.cu`.

    Returns:
      bool.
    """
    if profile.full or path in RUNTIME_KERNELS or path in profile.kernels.to_list():
        return True
    if not path.startswith("cuda/") or path.startswith("cuda/cub"):
        return False
    return path.endswith(".cpp") or any([kernel.endswith(".cu") for kernel in profile.kernels.to_list()])
