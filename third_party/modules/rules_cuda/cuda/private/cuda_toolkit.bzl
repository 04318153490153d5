"""Rule that hands a toolkit's facts to the compile rules."""

load(":providers.bzl", "CudaToolkitInfo")

def _cuda_toolkit_impl(ctx):
    return [
        DefaultInfo(files = depset(ctx.files.files)),
        CudaToolkitInfo(
            nvcc = ctx.attr.nvcc,
            host_compiler = ctx.attr.host_compiler,
            files = depset(ctx.files.files),
            version = ctx.attr.version,
        ),
    ]

cuda_toolkit = rule(
    implementation = _cuda_toolkit_impl,
    attrs = {
        "nvcc": attr.string(mandatory = True, doc = "Path of nvcc."),
        "host_compiler": attr.string(mandatory = True, doc = "Path of nvcc's host compiler."),
        "files": attr.label_list(allow_files = True, doc = "Files whose change means another toolkit."),
        "version": attr.string(mandatory = True, doc = "The toolkit's version."),
    },
    doc = "A CUDA toolkit.",
    provides = [CudaToolkitInfo],
)
