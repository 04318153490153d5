"""What the packages of devices load that //device:new writes."""

load("@rules_python//python:defs.bzl", "py_test")
load("//third_party/stock_torch:versions.bzl", "STOCK_TORCH", "stock_wheel")
load("//tools/wheel:defs.bzl", "prebuilt_wheel", "wheel_env")

def stock_test(name, program, device, wheels, torch, tags = [], **kwargs):
    """Runs a program on a PyTorch of PyPI, unmodified, with torch_cuda_runtime and a device's wheel installed.

    PyTorch is downloaded once for all tests, 540 MB, to the cache folder of torch_cuda (~/.cache/torch_cuda).

    Args:
        name: string, name of the py_test.
        program: label, the Python file.
        device: label of the device's wheel (library_wheel).
        wheels: list of labels, the .whl file of torch_cuda_runtime. Without any, the test is skipped; in torch_cuda's own
            repository, it is built.
        torch: string, a minor version, such as "2.15".
        tags: of the test.
        **kwargs: other attributes of py_test.
    """
    if torch not in STOCK_TORCH:
        fail("stock_test: found torch %r; needed one of %s" % (torch, ", ".join(STOCK_TORCH)))
    if Label(":defs.bzl").repo_name == "":
        # Here it is run by name.
        tags = tags + ["manual"]
        wheels = wheels or [Label(stock_wheel("//runtime:torch_cuda_runtime", torch))]
    elif not wheels:
        kwargs["target_compatible_with"] = [Label("@platforms//:incompatible")]
    files = [program] + wheels + [device]
    run = Label("//tools/stock_torch:run.py")
    py_test(
        name = name,
        srcs = [run],
        args = [STOCK_TORCH[torch].version] + ["$(rootpath %s)" % file for file in files],
        data = files,
        main = run,
        # Where torch and pip's settings are.
        env_inherit = ["HOME", "TORCH_CUDA_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS"],
        tags = tags + ["exclusive"],
        deps = [Label("//tools/stock_torch:environments")],
        **kwargs
    )

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
            Label("//runtime:torch_cuda_runtime_newest_wheel"),
            Label("//python:torch_cuda_wheel"),
        ]),
        **kwargs
    )
