"""Providers of the rules."""

CudaToolkitInfo = provider(
    doc = "A CUDA toolkit as nvcc needs it.",
    fields = {
        "nvcc": "string, the path of nvcc",
        "host_compiler": "string, the path of the C++ compiler that nvcc drives",
        "files": "depset of files whose change means another toolkit",
        "version": "string, the toolkit's version, such as 12.4",
    },
)
