"""The module extension that fetches auditwheel: `@auditwheel//:auditwheel`, a Python library, out of PyPI.

In MODULE.bazel:

    auditwheel = use_extension("//third_party/auditwheel:extension.bzl", "auditwheel", dev_dependency = True)
    use_repo(auditwheel, "auditwheel")
"""

load("//third_party:pip_packages.bzl", "install_pip_packages")

_BUILD = '''"""auditwheel, as fetched by third_party/auditwheel."""

load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "auditwheel",
    srcs = glob(["site/**/*.py"], exclude = ["site/bin/**"]),
    data = glob(["site/**"], exclude = ["site/**/*.py", "site/**/* *", "site/bin/**"]),
    imports = ["site"],
    visibility = ["//visibility:public"],
)
'''

_FAILED = """\
What checks the platform tag of wheels could not be fetched: {reason}
  Needed: a PyPI that this machine reaches, and CPython 3.10 or newer.
  Set PIP_INDEX_URL (PIP_CERT for a certificate of your own) and repeat,
  or leave the check out: bazel test -- //... -//tests/wheel:platform_test"""

def _auditwheel_repository_impl(ctx):
    install_pip_packages(ctx, ctx.attr.requirements, _FAILED)
    ctx.file("BUILD.bazel", _BUILD)

auditwheel_repository = repository_rule(
    implementation = _auditwheel_repository_impl,
    doc = "The packages of requirements.txt, checked against their hashes and installed into a folder.",
    attrs = {
        "requirements": attr.label(
            doc = "The file with versions and hashes.",
            allow_single_file = [".txt"],
            mandatory = True,
        ),
    },
)

def _auditwheel_extension_impl(_ctx):
    auditwheel_repository(
        name = "auditwheel",
        requirements = Label("//third_party/auditwheel:requirements.txt"),
    )

auditwheel = module_extension(
    implementation = _auditwheel_extension_impl,
    doc = "Makes the repository @auditwheel.",
)
