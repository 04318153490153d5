"""The module extension that fetches what the programs of //tests/programs use.

`@program_tools//:program_tools`, of tools.txt, and `@program_packages//:program_packages`, of requirements.txt, are
Python libraries out of PyPI, from wherever pip is configured to look on this machine. `@program_debs//:program_debs`
is torchvision and torchaudio as Debian builds them for its torch, from wherever APT is configured to look: PyPI's are
built for another torch. `@program_sources//:program_sources` is torchvision's source out of Debian's archive: its
kernels for CUDA, which Debian does not build. All have to match their hashes. Only tools.txt is fetched by `bazel test //...`.

In MODULE.bazel:

    programs = use_extension("//third_party/programs:extension.bzl", "programs", dev_dependency = True)
    use_repo(programs, "program_debs", "program_packages", "program_sources", "program_tools")
"""

load("//third_party:debian_sources.bzl", "extract_debian_source")
load("//third_party:pip_packages.bzl", "install_pip_packages")

# Debian 13's, for its torch 2.6.0 and Python 3.13.
_DEBS = {
    "python3-torchaudio=2.6.0-1": "ed3017e2e3592c9f29650f10df05d9332a7adde7e4974e226f4a3628672148a8",
    "python3-torchvision=0.21.0-3": "dc9f40f8d1f9b02908e9bd3e21e254f86b7e09003c2e011f18997b3e5152204b",
}

# What Debian's torchvision is built from.
_TORCHVISION = struct(
    package = "pytorch-vision",
    version = "0.21.0-3",
    filename = "pytorch-vision_0.21.0.orig.tar.gz",
    sha256 = "0a4a967bbb7f9810f792cd0289a07fb98c8fb5d1303fae8b63e3a6b05d720058",
    prefix = "vision-0.21.0/torchvision/csrc",
)

_BUILD = '''"""Unpacked from {packages}."""

load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "{name}",
    srcs = glob(["{site}/**/*.py"], exclude = ["{site}/bin/**", "{site}/**/* *"]),
    data = glob(
        ["{site}/**"],
        exclude = [
            "{site}/**/* *",
            "{site}/**/*.py",
            "{site}/bin/**",
        ],
    ),
    imports = ["{site}"],
    visibility = ["//visibility:public"],
)
'''

_SOURCES_BUILD = '''"""Unpacked from {package}'s source."""

load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "program_sources",
    srcs = ["torchvision_csrc/__init__.py"],
    data = glob(["torchvision_csrc/**"], exclude = ["**/*.py"]),
    imports = ["."],
    visibility = ["//visibility:public"],
)
'''

_FAILED = """\
What the programs of //tests/programs use could not be fetched: {reason}
  Needed: {needed}
  {remedy}
  Or leave them out: bazel test -- //... -//tests/programs/..."""

def _build(ctx, packages, site):
    # The canonical name of a repository that an extension makes ends in the name that the extension gave it.
    name = ctx.name.split("~")[-1].split("+")[-1]
    ctx.file("BUILD.bazel", _BUILD.format(name = name, packages = packages, site = site))

def _pip_packages_impl(ctx):
    install_pip_packages(ctx, ctx.attr.requirements, _FAILED.format(
        reason = "{reason}",
        needed = "a PyPI that this machine reaches, and CPython 3.13 on x86-64.",
        remedy = "Set PIP_INDEX_URL (PIP_CERT for a certificate of your own) and repeat.",
    ))
    _build(ctx, ctx.attr.requirements.name, "site")

pip_packages_repository = repository_rule(
    implementation = _pip_packages_impl,
    doc = "The packages of a file, checked against their hashes and installed into a folder.",
    attrs = {
        "requirements": attr.label(
            doc = "The file with versions and hashes.",
            allow_single_file = [".txt"],
            mandatory = True,
        ),
    },
)

def _deb_packages_impl(ctx):
    needed = "Debian 13, which has %s, and a mirror of it." % ", ".join(ctx.attr.packages.keys())
    remedy = "Type apt-get update and repeat."
    apt = ctx.which("apt-get")
    if not apt:
        fail(_FAILED.format(reason = "there is no apt-get on the PATH", needed = needed, remedy = remedy))
    for package, sha256 in ctx.attr.packages.items():
        result = ctx.execute(
            ["sh", "-c", "mkdir -p download && cd download && exec \"$@\"", "sh", apt, "--quiet", "download", package],
            timeout = 600,
        )
        if result.return_code:
            fail(_FAILED.format(reason = result.stderr.strip(), needed = needed, remedy = remedy))
        name, _, version = package.partition("=")
        (deb,) = [file for file in ctx.path("download").readdir() if file.basename.startswith(name + "_")]
        found = ctx.execute(["sha256sum", deb]).stdout.partition(" ")[0]
        if found != sha256:
            fail("{} {} has SHA-256 {}, but {} is pinned in third_party/programs/extension.bzl.".format(
                name,
                version,
                found,
                sha256,
            ))
        unpacked = ctx.execute(["dpkg-deb", "--extract", deb, "."])
        if unpacked.return_code:
            fail(_FAILED.format(reason = unpacked.stderr.strip(), needed = needed, remedy = remedy))
    ctx.delete("download")
    _build(ctx, ", ".join(ctx.attr.packages.keys()), "usr/lib/python3/dist-packages")

deb_packages_repository = repository_rule(
    implementation = _deb_packages_impl,
    doc = "Python packages out of Debian's archive, checked against their hashes and unpacked.",
    attrs = {
        "packages": attr.string_dict(doc = "SHA-256 by NAME=VERSION.", mandatory = True),
    },
)

def _program_sources_impl(ctx):
    if not extract_debian_source(ctx, _TORCHVISION, "torchvision_csrc"):
        fail(_FAILED.format(
            reason = "APT offers no such source",
            needed = "the source of %s %s, as Debian 13 has it." % (_TORCHVISION.package, _TORCHVISION.version),
            remedy = "Use ./bazelw, whose build root knows Debian's sources, and repeat.",
        ))
    ctx.file("torchvision_csrc/__init__.py", '"""The C++ and CUDA sources of torchvision, beside this file."""\n')
    ctx.file("BUILD.bazel", _SOURCES_BUILD.format(package = _TORCHVISION.package))

program_sources_repository = repository_rule(
    implementation = _program_sources_impl,
    doc = "torchvision's C++ and CUDA sources, as the Python package torchvision_csrc, which says where they lie.",
)

def _programs_impl(_ctx):
    pip_packages_repository(
        name = "program_tools",
        requirements = Label("//third_party/programs:tools.txt"),
    )
    pip_packages_repository(
        name = "program_packages",
        requirements = Label("//third_party/programs:requirements.txt"),
    )
    deb_packages_repository(
        name = "program_debs",
        packages = _DEBS,
    )
    program_sources_repository(name = "program_sources")

programs = module_extension(
    implementation = _programs_impl,
    doc = "Makes the repositories @program_tools, @program_packages, @program_debs and @program_sources.",
)
