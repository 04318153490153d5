"""Module extension that declares @cutlass, @cudnn and @cudnn_headers. Builds fetch those that they use."""

load("//tools/remote_wheel:remote_wheel.bzl", "fetch_remote_wheel")
load(":packages.bzl", "CUDNN", "CUDNN_FRONTEND", "CUDNN_HEADERS", "CUTLASS")

_BUILD = '''"""Unpacked from {requirements}."""

load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

# The libraries themselves, for what is in their symbol tables, and headers, for their licence.
exports_files(glob(["include/*.h", "lib/lib*.so.*"], allow_empty = True))

cc_library(
    name = "headers",
    hdrs = glob(["include*/**"]),
    includes = glob(["include*"], exclude_directories = 0),
)

[
    cc_library(
        name = library.removeprefix("lib/lib").split(".so")[0],
        additional_linker_inputs = [library],
        linkopts = ["$(execpath %s)" % library],
        deps = [":headers"],
    )
    for library in glob(["lib/lib*.so.*"], allow_empty = True)
]
'''

def _pypi_repository_impl(repository_ctx):
    python = repository_ctx.which("python3")
    if not python:
        fail("@%s needs python3 on PATH. Install it, or use ./bazelw, which brings one." % repository_ctx.name)
    for encoded in repository_ctx.attr.packages:
        package = json.decode(encoded)
        result = repository_ctx.execute(
            [
                python,
                "-B",
                repository_ctx.path(Label("//third_party/nvidia:fetch.py")),
                package["requirement"],
                package["sha256"],
                package["python_tag"],
                ".",
            ] + ["%s=%s" % folder for folder in package["folders"].items()],
            timeout = 1800,
        )
        if result.return_code:
            fail(result.stderr.strip())
    requirements = ", ".join([json.decode(package)["requirement"] for package in repository_ctx.attr.packages])
    repository_ctx.file("BUILD.bazel", repository_ctx.attr.build.replace("{requirements}", requirements))

pypi_repository = repository_rule(
    implementation = _pypi_repository_impl,
    attrs = {
        "build": attr.string(default = _BUILD, doc = "Its BUILD file; {requirements} stands for the packages."),
        "packages": attr.string_list(mandatory = True, doc = "Packages as in packages.bzl, each as JSON."),
    },
    doc = "Headers and libraries out of wheels.",
)

def _cudnn_headers_repository_impl(repository_ctx):
    fetch_remote_wheel(
        repository_ctx,
        CUDNN_HEADERS.requirement,
        include = [CUDNN_HEADERS.prefix + "/include/**"],
        platforms = ["manylinux_2_27_x86_64"],
        record_sha256 = CUDNN_HEADERS.record_sha256,
        strip_prefix = CUDNN_HEADERS.prefix,
    )
    repository_ctx.file("BUILD.bazel", _BUILD.replace("{requirements}", CUDNN_HEADERS.requirement))

cudnn_headers_repository = repository_rule(
    implementation = _cudnn_headers_repository_impl,
    doc = "Fetches cuDNN's headers alone, 1 MB of a wheel of 500.",
)

def _nvidia_impl(_module_ctx):
    pypi_repository(name = "cutlass", packages = [json.encode(CUTLASS)])
    pypi_repository(name = "cudnn", packages = [json.encode(CUDNN), json.encode(CUDNN_FRONTEND)])
    cudnn_headers_repository(name = "cudnn_headers")

nvidia = module_extension(
    implementation = _nvidia_impl,
    doc = "Declares @cutlass (products and attention), @cudnn (with its C++ frontend) and @cudnn_headers.",
)
