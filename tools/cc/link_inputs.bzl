"""What a link is given for a linking context, without run paths into the build tree.

Objects are linked without archives, so that all of them are in; archives are searched; shared libraries are named by
path, and what is recorded of them is their soname.
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _target(label):
    """Names the target that an object's owner belongs to: cuda_library compiles in NAME.nvcc."""
    return "%s:%s" % (label.package, label.name.removesuffix(".nvcc"))

def link_inputs(linking_context, order = []):
    """Takes a linking context apart.

    Args:
        linking_context: LinkingContext of a CcInfo.
        order: list of strings, targets such as "aten_cuda/core:cuda/CUDAContext.cpp": their objects come in this order,
            behind those of targets that it does not name.

    Returns:
        struct of lists: `objects` and `libraries` (Files: archives and shared libraries), `flags` (strings), and `files`
        (Files that flags name).
    """
    places = {target: place for place, target in enumerate(order, 1)}
    placed, libraries, flags, files = [], [], [], []
    for linker_input in linking_context.linker_inputs.to_list():
        flags.extend(linker_input.user_link_flags)
        files.extend(linker_input.additional_inputs)
        for library in linker_input.libraries:
            own = library.pic_objects or library.objects
            shared = library.resolved_symlink_dynamic_library or library.dynamic_library or library.interface_library
            archive = library.pic_static_library or library.static_library
            if own:
                placed.append((places.get(_target(linker_input.owner), 0), own))
            elif shared or archive:
                libraries.append(shared or archive)
    return struct(
        files = files,
        flags = flags,
        libraries = libraries,
        objects = [object for _, own in sorted(placed, key = _place) for object in own],
    )

def _place(placed):
    """What objects are sorted by; where it is the same, they keep their order."""
    return placed[0]

def _linked_by_path_impl(ctx):
    dependencies = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    inputs = link_inputs(dependencies.linking_context)
    if inputs.objects:
        fail("%s: only libraries that are there already are linked by path, not %s" % (ctx.label, inputs.objects[0].short_path))
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        additional_inputs = depset(inputs.files + inputs.libraries),
        user_link_flags = depset([library.path for library in inputs.libraries] + inputs.flags),
    )
    return [CcInfo(
        compilation_context = dependencies.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset([linker_input])),
    )]

linked_by_path = rule(
    implementation = _linked_by_path_impl,
    attrs = {"deps": attr.label_list(
        mandatory = True,
        providers = [CcInfo],
        doc = "Libraries of the machine, such as @cuda//:cuda_runtime.",
    )},
    doc = "Libraries for Bazel's own rules of C++, which would otherwise leave run paths to them in what they link.",
    provides = [CcInfo],
)
