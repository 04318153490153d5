"""Wheels of PyTorch plugins: building one, importing it, testing it installed.

    load("//tools/wheel:defs.bzl", "plugin_wheel", "wheel_env", "wheel_test")

    plugin_wheel(
        name = "torch_cuda_wheel",
        distribution = "torch_cuda",
        version = TORCH["public_version"] + "+cu124",
        summary = "CUDA for a CPU-only PyTorch.",
        py_deps = ["//python/torch_cuda"],
        native = {"//c10_cuda:libc10_cuda.so": "torch_cuda/lib/libc10_cuda.so"},
        entry_points = {"torch.backends": ["torch_cuda = torch_cuda:_autoload"]},
    )

    wheel_env(name = "torch_cuda_env", wheels = [":torch_cuda_wheel"])

    wheel_test(name = "use_test", srcs = ["use_test.py"], env_target = ":torch_cuda_env")
"""

load("@torch//:torch.bzl", "TORCH")
load("//tools/wheel/private:cuda_settings.bzl", _cuda_settings = "cuda_settings")
load("//tools/wheel/private:plugin_wheel.bzl", _WheelInfo = "WheelInfo", _plugin_wheel = "plugin_wheel")
load("//tools/wheel/private:prebuilt_wheel.bzl", _prebuilt_wheel = "prebuilt_wheel")
load("//tools/wheel/private:wheel_env.bzl", _wheel_env = "wheel_env")
load("//tools/wheel/private:wheel_test.bzl", _wheel_test = "wheel_test")

WheelInfo = _WheelInfo
prebuilt_wheel = _prebuilt_wheel
wheel_env = _wheel_env
wheel_test = _wheel_test

def plugin_wheel(name, distribution, version, summary, requires = [], **kwargs):
    """Builds a wheel for the Python, ABI and torch that @torch describes.

    The target has one output, `DISTRIBUTION-VERSION-PYTHON-ABI-PLATFORM.whl`, and the provider
    WheelInfo. Requirements on exactly this torch and this Python are added.

    Args:
        name: string, name of the target.
        distribution: string, name of the distribution.
        version: string, PEP 440 version.
        summary: string, one line for `pip show`.
        requires: list of PEP 508 strings beside the one on torch.
        **kwargs: further attributes of the rule, see private/plugin_wheel.bzl.
    """
    _plugin_wheel(
        name = name,
        distribution = distribution,
        version = version,
        summary = summary,
        python_tag = TORCH["python_tag"],
        abi_tag = TORCH["abi_tag"],
        platform_tag = TORCH["platform"],
        requires = ["torch=={}".format(TORCH["public_version"])] + requires,
        requires_python = "=={}.*".format(python_version(TORCH["python_tag"])),
        **kwargs
    )

def library_wheel(name, distribution, version, summary, manylinux = False, **kwargs):
    """Builds a wheel of shared libraries that no Python loads as modules: for any Python from 3.9 on, with or without torch.

    Args:
        name: string, name of the target.
        distribution: string, name of the distribution.
        version: string, PEP 440 version.
        summary: string, one line for `pip show`.
        manylinux: bool, whether all libraries are linked for manylinux_2_28 (the attribute of that name of
            //tools/cc:shared_library.bzl); else the wheel is for this platform.
        **kwargs: further attributes of the rule, see private/plugin_wheel.bzl.
    """
    _plugin_wheel(
        name = name,
        distribution = distribution,
        version = version,
        summary = summary,
        python_tag = "py3",
        abi_tag = "none",
        platform_tag = select({
            "@platforms//cpu:aarch64": "manylinux_2_28_aarch64" if manylinux else "linux_aarch64",
            "//conditions:default": TORCH["platform"].replace("linux_", "manylinux_2_28_") if manylinux else TORCH["platform"],
        }),
        requires_python = ">=3.9",
        **kwargs
    )

def abi3_wheel(name, distribution, version, summary, python, **kwargs):
    """Builds a wheel whose extension modules keep to Python's limited API: for any Python from one on, with or without torch.

    Args:
        name: string, name of the target.
        distribution: string, name of the distribution.
        version: string, PEP 440 version.
        summary: string, one line for `pip show`.
        python: string, the first version of Python, such as "3.11".
        **kwargs: further attributes of the rule, see private/plugin_wheel.bzl.
    """
    _plugin_wheel(
        name = name,
        distribution = distribution,
        version = version,
        summary = summary,
        python_tag = "cp" + python.replace(".", ""),
        abi_tag = "abi3",
        platform_tag = TORCH["platform"],
        requires_python = ">=" + python,
        **kwargs
    )

def cuda_build_info(name, version, cuda_version, cuda_libraries = {}, **kwargs):
    """Writes what a wheel was built from and for, as JSON for `build_info_files` of plugin_wheel.

    The constants are VERSION, TORCH_VERSION, PYTHON_TAG, CXX11_ABI, CUDA_VERSION, CUDA_LIBRARIES and,
    from the build settings of //config, CUDA_ARCHS, OPS, CUDNN and ATTENTION.

    Args:
        name: string, name of the target.
        version: string, version of the wheel.
        cuda_version: string, MAJOR.MINOR of the toolkit.
        cuda_libraries: dict of soname to package, see cuda_packages in nvidia.bzl.
        **kwargs: attributes common to all rules.
    """
    _cuda_settings(
        name = name,
        constants = json.encode({
            "CUDA_LIBRARIES": cuda_libraries,
            "CUDA_VERSION": cuda_version,
            "CXX11_ABI": TORCH["cxx11_abi"],
            "PYTHON_TAG": TORCH["python_tag"],
            "TORCH_VERSION": TORCH["public_version"],
            "VERSION": version,
        }),
        **kwargs
    )

def python_version(python_tag):
    """Turns a CPython tag into a version.

    Args:
        python_tag: string such as "cp313".

    Returns:
        string such as "3.13".
    """
    digits = python_tag.removeprefix("cp")
    if digits == python_tag or not digits.isdigit() or len(digits) < 2:
        fail("{} is no CPython tag such as cp313.".format(python_tag))
    return "{}.{}".format(digits[0], digits[1:])

def extension_filename(module):
    """Names the file of a C extension module for the Python of @torch.

    Args:
        module: string such as "torch_cuda/_CUDAC".

    Returns:
        string such as "torch_cuda/_CUDAC.cpython-313-x86_64-linux-gnu.so".
    """
    return module + TORCH["extension_suffix"]
