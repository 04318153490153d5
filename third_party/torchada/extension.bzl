"""Module extension that declares @torchada: the tests in torchada's sdist, which //upstream/torchada runs.

The sdist comes from PyPI, from wherever pip is configured to look on this machine, and has to match the hash in
requirements.txt. pip looks at an sdist's metadata with setuptools: this Python's, as another would not be pinned.
"""

_BUILD = '''"""Unpacked from torchada's sdist."""

filegroup(
    name = "tests",
    srcs = ["pyproject.toml"] + glob(["tests/*.py"]),
    visibility = ["//visibility:public"],
)

exports_files(["tests/test_platform.py"])
'''

_FAILED = """\
torchada's sdist could not be fetched: {reason}
  Needed: a PyPI that this machine reaches, and setuptools in this Python.
  Set PIP_INDEX_URL (PIP_CERT for a certificate of your own) and repeat,
  or leave its tests out: bazel test -- //... -//upstream/torchada/..."""

def _torchada_impl(ctx):
    python = ctx.which("python3")
    if not python:
        fail(_FAILED.format(reason = "there is no python3 on the PATH"))
    result = ctx.execute(
        [
            python,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--no-deps",
            "--no-build-isolation",
            "--no-binary=torchada",
            "--require-hashes",
            "--requirement=%s" % ctx.path(ctx.attr.requirements),
            "--dest=download",
        ],
        timeout = 600,
    )
    if result.return_code:
        fail(_FAILED.format(reason = result.stderr.strip()))
    for archive in ctx.path("download").readdir():
        ctx.extract(archive, stripPrefix = archive.basename.removesuffix(".tar.gz"))
    for folder in ("download", "src"):
        ctx.delete(folder)
    ctx.file("BUILD.bazel", _BUILD)

torchada_repository = repository_rule(
    implementation = _torchada_impl,
    doc = "The tests in an sdist, which pip checks against its hash.",
    attrs = {
        "requirements": attr.label(
            doc = "The file with the version and the hash.",
            allow_single_file = [".txt"],
            mandatory = True,
        ),
    },
)

def _torchada_extension_impl(_ctx):
    torchada_repository(
        name = "torchada",
        requirements = Label("//third_party/torchada:requirements.txt"),
    )

torchada = module_extension(
    implementation = _torchada_extension_impl,
    doc = "Makes the repository @torchada.",
)
