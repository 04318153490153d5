"""What the packages of devices load that //accelerator:new writes."""

load("//tools/wheel:defs.bzl", "prebuilt_wheel", "wheel_env")

def torch_environment(name, device, wheels = [], **kwargs):
    """torch_cuda and a device's wheel, unpacked for wheel_test, from wheels that are there.

    Args:
        name: string, name of the wheel_env.
        device: label of the device's wheel (library_wheel).
        wheels: list of labels, .whl files of torch_cuda and torch_cuda_runtime. Without any, what needs the wheel_env is
            skipped; in torch_cuda's own repository, it is built.
        **kwargs: attributes common to all rules.
    """
    prebuilt = []
    is_dependency = Label(":defs.bzl").repo_name != ""
    if is_dependency and not wheels:
        kwargs["target_compatible_with"] = [Label("@platforms//:incompatible")]
    for index, wheel in enumerate(wheels):
        prebuilt.append("%s_wheel_%d" % (name, index))
        prebuilt_wheel(
            name = prebuilt[-1],
            wheel = wheel,
            **kwargs
        )
    wheel_env(
        name = name,
        wheels = [device] + (prebuilt or [
            Label("//accelerator:torch_cuda_runtime_wheel"),
            Label("//python:torch_cuda_wheel"),
        ]),
        **kwargs
    )
