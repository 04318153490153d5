"""device_test: a Python test that needs a CUDA device."""

load("//tools/wheel:defs.bzl", "wheel_test")

# The variables of a test on the simulated device, and on a real GPU.
DEVICE_ENV = select({
    "//config:quick_ptx_on_sim": {
        "CUDASIM_OPTIMIZE": "1",
        "TORCH_CUDA_SIM": "1",
    },
    "//config:test_on_gpu": {"TORCH_CUDA_SIM": "0"},
    "//conditions:default": {"TORCH_CUDA_SIM": "1"},
})

# The variables of a test on the simulated device that compiles all kernels to machine code, and what they name.
NATIVE_ENV = {
    "CUDASIM_LLVM": "$(rootpath @llvmlite//:library)",
    "CUDASIM_NATIVE": "always",
    "TORCH_CUDA_SIM": "1",
}
NATIVE_DATA = ["@llvmlite//:library"]

def device_test(name, srcs, native = False, data = [], **kwargs):
    """A wheel_test with torch_cuda and a CUDA device: simulated, or real with `--//config:test_device=gpu`.

    Args:
        name: string, name of the test.
        srcs: list of labels, the test's sources.
        native: bool, whether the device is the simulated one and compiles all kernels to machine code.
        data: list of labels, as for wheel_test.
        **kwargs: more attributes of wheel_test.
    """
    wheel_test(
        name = name,
        srcs = srcs,
        data = data + (NATIVE_DATA if native else []),
        env = NATIVE_ENV if native else DEVICE_ENV,
        env_target = "//tests/device:env",
        **kwargs
    )
