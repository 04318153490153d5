"""What the packages of devices load that //accelerator:new writes."""

load("//tools/wheel:defs.bzl", "prebuilt_wheel", "wheel_env")

def torch_environment(name, wheels = [], **kwargs):
    """torch_cuda, unpacked for wheel_test: from wheels that are there, else built from source.

    Args:
        name: string, name of the wheel_env.
        wheels: list of labels, .whl files of torch_cuda and torch_cuda_sim. Without any they are built, which takes as
            long as torch_cuda's own build.
        **kwargs: attributes common to all rules.
    """
    prebuilt = []
    for index, wheel in enumerate(wheels):
        prebuilt.append("%s_wheel_%d" % (name, index))
        prebuilt_wheel(
            name = prebuilt[-1],
            wheel = wheel,
            **kwargs
        )
    wheel_env(
        name = name,
        wheels = prebuilt or [
            Label("//cudasim:torch_cuda_sim_wheel"),
            Label("//python:torch_cuda_wheel"),
        ],
        **kwargs
    )
