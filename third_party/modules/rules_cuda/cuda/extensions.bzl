"""Module extension `toolchain`: declares @cuda from a toolkit installed on the machine."""

load("//cuda/private:toolkit_repository.bzl", "cuda_toolkit")

_toolkit = tag_class(
    attrs = {
        "name": attr.string(default = "cuda", doc = "Name of the repository."),
        "toolkit_path": attr.string(doc = "Folder of the toolkit; empty: CUDA_PATH, then the folder of ptxas on PATH."),
    },
    doc = "Declares the repository of one CUDA toolkit.",
)

def _toolchain_impl(module_ctx):
    declared = {}
    for module in module_ctx.modules:
        for toolkit in module.tags.toolkit:
            if toolkit.name not in declared or module.is_root:
                declared[toolkit.name] = toolkit.toolkit_path
    for name, path in declared.items():
        cuda_toolkit(name = name, toolkit_path = path)

toolchain = module_extension(
    implementation = _toolchain_impl,
    doc = "Finds the CUDA toolkit.",
    tag_classes = {"toolkit": _toolkit},
)
