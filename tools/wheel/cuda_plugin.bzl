"""The wheel of a plugin of torch_cuda: what the wheels of distributed and profiler have in common.

docs/plugins.md says how a plugin hooks in.
"""

load("@cuda_toolkit//:cuda.bzl", "CUDA_VERSION")
load("@rules_python//python:defs.bzl", "py_library")
load("//config:version.bzl", "TORCH_CUDA_VERSION")
load("//tools/wheel:defs.bzl", "cuda_build_info", "plugin_wheel")
load("//tools/wheel:nvidia.bzl", "cuda_packages", "cuda_requirements")

def cuda_plugin_wheel(name, package, summary, cuda_libraries, libraries, build_info_files = []):
    """Builds a wheel that requires torch_cuda of the same version and hooks into it.

    The package lies in `python/PACKAGE` beside the BUILD file and has `_autoload` (the entry point of
    torch.backends) and `_plugin.plugin` (that of torch_cuda.plugins). It becomes the py_library
    PACKAGE; what it was built from becomes its `_build_info.py`.

    Args:
        name: string, name of the target.
        package: string, name of the distribution and of its Python package.
        summary: string, one line for `pip show`.
        cuda_libraries: list of strings, sonames of the CUDA libraries that it needs beyond torch_cuda's;
            the extra `cuda` installs them.
        libraries: dict of label to path in the wheel, `native` of plugin_wheel.
        build_info_files: list of labels of JSON files with further constants for `_build_info.py`.
    """
    py_library(
        name = package,
        srcs = native.glob(
            ["python/%s/*.py" % package],
            exclude = ["**/*_test.py"],
        ),
        imports = ["python"],
    )
    cuda_build_info(
        name = "build_info",
        cuda_libraries = cuda_packages(cuda_libraries),
        cuda_version = CUDA_VERSION,
        version = TORCH_CUDA_VERSION,
    )
    plugin_wheel(
        name = name,
        build_info_files = [":build_info"] + build_info_files,
        build_info_path = package + "/_build_info.py",
        data = ["python/%s/py.typed" % package],
        description = "DESCRIPTION.md",
        distribution = package,
        entry_points = {
            "torch.backends": ["{0} = {0}:_autoload".format(package)],
            "torch_cuda.plugins": ["{0} = {0}._plugin:plugin".format(package)],
        },
        extras = {"cuda": cuda_requirements(cuda_libraries)},
        license_files = {
            "//:LICENSE": "LICENSE",
            "@pytorch//:LICENSE": "pytorch/LICENSE",
            "@pytorch//:NOTICE": "pytorch/NOTICE",
        },
        native = libraries,
        py_deps = [":" + package],
        requires = ["torch_cuda==" + TORCH_CUDA_VERSION],
        strip_prefix = native.package_name() + "/python",
        summary = summary,
        version = TORCH_CUDA_VERSION,
        visibility = ["//visibility:public"],
    )
