"""In which order upstream links the units of a library, in the words of this repository: which target compiles each."""

load("@pytorch//:units.bzl", "LINK_ORDER")
load(":library.bzl", "ATEN", "unit_name")
load(":owners.bzl", "package_of")

# What torchgen writes is compiled by targets of several units.
_GENERATED = {
    ATEN + "RegisterCUDA.cpp": "aten_cuda/codegen:registrations",
    ATEN + "RegisterNestedTensorCUDA.cpp": "aten_cuda/codegen:registrations",
    ATEN + "RegisterQuantizedCUDA.cpp": "aten_cuda/codegen:registrations",
    ATEN + "RegisterSparseCUDA.cpp": "aten_cuda/codegen:registrations",
    ATEN + "RegisterSparseCsrCUDA.cpp": "aten_cuda/codegen:registrations",
    ATEN + "UfuncCUDA_add.cu": "aten_cuda/codegen:ufuncs",
    "torch/csrc/inductor/aoti_torch/generated/c_shim_cuda.cpp": "framework/inductor:aoti_shim",
}

def link_order(library):
    """The targets that compile a library's units, in upstream's order.

    Static initialisers run in the order of the link, and what they registered for the end of the process in the reverse
    one: units depend on both.

    Args:
        library: string, upstream's name of it, such as "torch_cuda".

    Returns:
        list of strings for `link_order` of shared_library; those of units that a build leaves out are among them.
    """
    targets = [
        _GENERATED.get(unit) or "%s:%s" % (package_of(unit), unit_name(unit))
        for unit in LINK_ORDER[library]
    ]
    return {target: None for target in targets}.keys()
