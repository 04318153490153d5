"""Rule that hands a toolkit's facts to the compile rules."""

load(":providers.bzl", "CudaToolkitInfo")

def _cuda_toolkit_info_impl(ctx):
    return [
        DefaultInfo(files = depset(ctx.files.files)),
        CudaToolkitInfo(
            files = depset(ctx.files.files),
            nvcc = ctx.attr.nvcc,
        ),
    ]

cuda_toolkit_info = rule(
    implementation = _cuda_toolkit_info_impl,
    attrs = {
        "files": attr.label_list(allow_files = True, doc = "Files whose change means another toolkit."),
        "nvcc": attr.string(mandatory = True, doc = "Path of nvcc."),
    },
    doc = "A CUDA toolkit.",
    provides = [CudaToolkitInfo],
)
