"""device_test: a Python test that needs a CUDA device."""

load("//tools/wheel:defs.bzl", "wheel_test")

# The variables of a test on the simulated device, and on a real GPU.
DEVICE_ENV = select({
    "//config:test_on_gpu": {"TORCH_CUDA_SIM": "0"},
    "//conditions:default": {"TORCH_CUDA_SIM": "1"},
})

def device_test(name, srcs, **kwargs):
    """A wheel_test with torch_cuda and a CUDA device: simulated, or real with `--//config:test_device=gpu`.

    Args:
        name: string, name of the test.
        srcs: list of labels, the test's sources.
        **kwargs: more attributes of wheel_test.
    """
    wheel_test(
        name = name,
        srcs = srcs,
        env = DEVICE_ENV,
        env_target = "//tests/device:env",
        **kwargs
    )
