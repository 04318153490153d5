"""The module extension that fetches older systems: a loader, libraries and a Python, without a kernel and without root.

`@systems//:bookworm` and `@systems//:bullseye` are the files of Debian 12 and 11 that a program of theirs needs, unpacked
out of the packages of the mirror that APT is configured with, and `@systems//:NAMES` lists those that the mirror has:
Debian 11 is the oldest system that mirrors carry. APT checks the archive's signature. Programs run through the system's own
loader (tests/wheel/older_systems_test.py), so that neither a chroot nor a container is needed.

In MODULE.bazel:

    systems = use_extension("//third_party/systems:extension.bzl", "systems", dev_dependency = True)
    use_repo(systems, "systems")
"""

load("//third_party:debian_packages.bzl", "debian_mirror", "extract_debian_packages")

# What Python's interpreter, ctypes and pip need, and what the wheels' libraries do.
_PACKAGES = [
    "libbz2-1.0",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libgcc-s1",
    "liblzma5",
    "libstdc++6",
    "zlib1g",
]

_SUITES = {
    "bookworm": _PACKAGES + ["libffi8", "libpython3.11-minimal", "libpython3.11-stdlib", "libssl3", "python3.11-minimal"],
    "bullseye": _PACKAGES + ["libffi7", "libpython3.9-minimal", "libpython3.9-stdlib", "libssl1.1", "python3-distutils", "python3.9-minimal"],
}

_BUILD = '''"""Older systems, as fetched by third_party/systems."""

package(default_visibility = ["//visibility:public"])

exports_files(["NAMES"])

filegroup(
    name = "systems",
    srcs = glob(["bookworm/**", "bullseye/**"], allow_empty = True, exclude = ["**/* *"]),
)
'''

def _systems_repository_impl(ctx):
    names = []
    mirror = debian_mirror(ctx)
    for suite, packages in _SUITES.items():
        if mirror:
            ctx.report_progress("Fetching Python of Debian's %s" % suite)
            reason = extract_debian_packages(ctx, mirror, suite, "amd64", suite, packages)
            if reason:
                # buildifier: disable=print
                print("Debian's %s cannot be had here, and is not tried: %s" % (suite, reason))
                ctx.delete(suite)
            else:
                names.append(suite)
    ctx.file("NAMES", "".join([name + "\n" for name in names]))
    ctx.file("BUILD.bazel", _BUILD)

systems_repository = repository_rule(
    implementation = _systems_repository_impl,
    doc = "Files of older systems; none where no mirror has them.",
)

def _systems_extension_impl(_ctx):
    systems_repository(name = "systems")

systems = module_extension(
    implementation = _systems_extension_impl,
    doc = "Makes the repository @systems.",
)
