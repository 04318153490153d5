"""The module extension that fetches llvmlite: `@llvmlite//:library`, LLVM as one shared library, out of PyPI.

In MODULE.bazel:

    llvmlite = use_extension("//third_party/llvmlite:extension.bzl", "llvmlite", dev_dependency = True)
    use_repo(llvmlite, "llvmlite")
"""

load("//third_party:pip_packages.bzl", "install_pip_packages")

_BUILD = '''"""llvmlite, as fetched by third_party/llvmlite."""

filegroup(
    name = "library",
    srcs = ["site/llvmlite/binding/libllvmlite.so"],
    visibility = ["//visibility:public"],
)
'''

_FAILED = """\
LLVM, which tests of native code need, could not be fetched: {reason}
  Needed: a PyPI that this machine reaches, and CPython 3.10 to 3.14.
  Set PIP_INDEX_URL (PIP_CERT for a certificate of your own) and repeat,
  or leave the tests out: bazel test -- //... -//cudasim/engine/translation/..."""

def _llvmlite_repository_impl(ctx):
    install_pip_packages(ctx, ctx.attr.requirements, _FAILED)
    ctx.file("BUILD.bazel", _BUILD)

llvmlite_repository = repository_rule(
    implementation = _llvmlite_repository_impl,
    doc = "The packages of requirements.txt, checked against their hashes and installed into a folder.",
    attrs = {
        "requirements": attr.label(
            doc = "The file with versions and hashes.",
            allow_single_file = [".txt"],
            mandatory = True,
        ),
    },
)

def _llvmlite_extension_impl(_ctx):
    llvmlite_repository(
        name = "llvmlite",
        requirements = Label("//third_party/llvmlite:requirements.txt"),
    )

llvmlite = module_extension(
    implementation = _llvmlite_extension_impl,
    doc = "Makes the repository @llvmlite.",
)
