"""The module extension that fetches older systems: a loader, libraries and a Python, without a kernel and without root.

`@systems//:bookworm` and `@systems//:bullseye` are the files of Debian 12 and 11 that a program of theirs needs, unpacked
out of the packages of the mirror that APT is configured with, and `@systems//:NAMES` lists those that the mirror has:
Debian 11 is the oldest system that mirrors carry. APT checks the archive's signature. Programs run through the system's own
loader (tests/wheel/older_systems_test.py), so that neither a chroot nor a container is needed.

In MODULE.bazel:

    systems = use_extension("//third_party/systems:extension.bzl", "systems", dev_dependency = True)
    use_repo(systems, "systems")
"""

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

_FETCH = """
set -eu
mirror="$1" suite="$2"
shift 2
mkdir -p "apt/$suite/lists/partial" "apt/$suite/archives/partial" "$suite" "download/$suite"
cat > "apt/$suite/sources.list" <<END
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main
END
cat > "apt/$suite/apt.conf" <<END
Dir::Etc::SourceList "$PWD/apt/$suite/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "$PWD/apt/$suite";
Dir::State::Lists "$PWD/apt/$suite/lists";
Dir::State::Status "/dev/null";
Dir::Cache "$PWD/apt/$suite";
Dir::Cache::Archives "$PWD/apt/$suite/archives";
APT::Architecture "amd64";
APT::Sandbox::User "root";
Acquire::Languages "none";
END
export APT_CONFIG="$PWD/apt/$suite/apt.conf"
apt-get --quiet update >&2
cd "download/$suite"
apt-get --quiet download "$@" >&2
for package in *.deb; do
  dpkg-deb --extract "$package" "../../$suite"
done
"""

def _mirror(ctx):
    """Returns the address of a mirror of Debian's main archive, without its last slash, or None."""
    if not ctx.which("apt-get"):
        return None
    result = ctx.execute([
        "apt-get",
        "indextargets",
        "--no-release-info",
        "--format",
        "$(REPO_URI) $(COMPONENT)",
        "Created-By: Packages",
    ])
    for line in result.stdout.splitlines():
        address, _, component = line.partition(" ")
        if component == "main" and "security" not in address:
            return address.removesuffix("/")
    return None

def _systems_repository_impl(ctx):
    names = []
    mirror = _mirror(ctx)
    for suite, packages in _SUITES.items():
        if mirror:
            ctx.report_progress("Fetching Python of Debian's %s" % suite)
            done = ctx.execute(["sh", "-c", _FETCH, "sh", mirror, suite] + packages, timeout = 600)
            if done.return_code:
                # buildifier: disable=print
                print("Debian's %s cannot be had here, and is not tried: %s" % (suite, done.stderr.strip()[-500:]))
                ctx.delete(suite)
            else:
                names.append(suite)
    ctx.delete("apt")
    ctx.delete("download")
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
