"""Providers of the rules."""

CudaArchsInfo = provider(
    doc = "What CUDA units are compiled for.",
    fields = {"arch_specs": "list of struct(stage1, stage2): a virtual architecture such as 80, and what is made of it, such as sm_80 and compute_80"},
)

CudaToolkitInfo = provider(
    doc = "A CUDA toolkit as nvcc needs it.",
    fields = {
        "files": "depset of files whose change means another toolkit",
        "nvcc": "string, the path of nvcc",
    },
)
