"""Module extension that declares @cuda13, the headers of CUDA 13, and @cuda13_tools, from NVIDIA's packages on PyPI.

`@cuda13//:headers` is what sources are compiled against that serve both major versions, `@cuda13//:include/NAME.h` each
header. Libraries and programs of CUDA 13 are not in it: nothing here is linked with them. Tests alone run them:
`@cuda13_tools//:bin/NAME` is a program of the newest CUDA, `@cuda13_tools//:lib/NAME` a library,
`@cuda13_tools//:cu12/lib/NAME` one of CUDA 12.8.
"""

load("//tools/remote_wheel:remote_wheel.bzl", "fetch_remote_wheel")
load(":packages.bzl", "PACKAGES", "TOOLS")

_PLATFORMS = ["manylinux_2_%d_x86_64" % minor for minor in [27, 25, 17, 12]]

_TOOLS_BUILD = '''"""NVIDIA's programs and libraries, as fetched by third_party/cuda13."""

package(default_visibility = ["//visibility:public"])

exports_files(glob(["**"], exclude = ["BUILD.bazel"]))

# Beside each other, as some open others.
filegroup(
    name = "libraries",
    srcs = glob(["lib/**"]),
)
'''

def _cuda13_repository_impl(repository_ctx):
    for requirement, sha256 in PACKAGES.items():
        fetch_remote_wheel(
            repository_ctx,
            requirement,
            include = ["nvidia/cu13/include/**"],
            platforms = _PLATFORMS,
            record_sha256 = sha256,
            strip_prefix = "nvidia/cu13",
        )
    repository_ctx.symlink(Label("//third_party/cuda13:cuda13.BUILD.bazel"), "BUILD.bazel")

cuda13_repository = repository_rule(
    implementation = _cuda13_repository_impl,
    doc = "Fetches CUDA 13's headers, some 3 MB.",
)

def _cuda13_tools_repository_impl(repository_ctx):
    programs = []
    for requirement, tool in TOOLS.items():
        fetch_remote_wheel(
            repository_ctx,
            requirement,
            include = [tool.prefix + "/" + glob for glob in tool.include],
            output = tool.output,
            platforms = _PLATFORMS,
            record_sha256 = tool.sha256,
            strip_prefix = tool.prefix,
        )
        programs += [file for file in tool.include if file.startswith("bin/")]
    repository_ctx.execute(["chmod", "+x"] + programs)
    repository_ctx.file("BUILD.bazel", _TOOLS_BUILD)

cuda13_tools_repository = repository_rule(
    implementation = _cuda13_tools_repository_impl,
    doc = "Fetches the programs and libraries of packages.bzl, some 200 MB.",
)

def _cuda13_impl(_module_ctx):
    cuda13_repository(name = "cuda13")
    cuda13_tools_repository(name = "cuda13_tools")

cuda13 = module_extension(
    implementation = _cuda13_impl,
    doc = "Declares @cuda13 and @cuda13_tools.",
)
