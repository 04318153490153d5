"""The module extension that fetches the tools of a release out of PyPI: `@release_tools//:release_tools`, a Python library.

It has auditwheel (on which systems a wheel runs), twine (whether an index takes it) and CycloneDX (what it is made of).

In MODULE.bazel:

    release_tools = use_extension("//third_party/release:extension.bzl", "release_tools", dev_dependency = True)
    use_repo(release_tools, "release_tools")
"""

load("//third_party:pip_packages.bzl", "install_pip_packages")

_BUILD = '''"""auditwheel, twine and CycloneDX, as fetched by third_party/release."""

load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "release_tools",
    srcs = glob(["site/**/*.py"], exclude = ["site/bin/**"]),
    data = glob(["site/**"], exclude = ["site/**/*.py", "site/**/* *", "site/bin/**"]),
    imports = ["site"],
    visibility = ["//visibility:public"],
)
'''

_FAILED = """\
What checks wheels for a release could not be fetched: {reason}
  Needed: a PyPI that this machine reaches, and CPython 3.10 or newer.
  Set PIP_INDEX_URL (PIP_CERT for a certificate of your own) and repeat,
  or leave these checks out: bazel test -- //... -//tests/wheel:platform_test -//tools/release/..."""

def _release_tools_repository_impl(ctx):
    install_pip_packages(ctx, ctx.attr.requirements, _FAILED)
    ctx.file("BUILD.bazel", _BUILD)

release_tools_repository = repository_rule(
    implementation = _release_tools_repository_impl,
    doc = "The packages of requirements.txt, checked against their hashes and installed into a folder.",
    attrs = {
        "requirements": attr.label(
            doc = "The file with versions and hashes.",
            allow_single_file = [".txt"],
            mandatory = True,
        ),
    },
)

def _release_tools_extension_impl(_ctx):
    release_tools_repository(
        name = "release_tools",
        requirements = Label("//third_party/release:requirements.txt"),
    )

release_tools = module_extension(
    implementation = _release_tools_extension_impl,
    doc = "Makes the repository @release_tools.",
)
