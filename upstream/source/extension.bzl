"""Module extension that declares @pytorch: PyTorch's source, never copied into this repository.

The source is, in this order: the folder named by PYTORCH_SOURCE_DIR, upstream's release tarball, Debian's source
package. Tarballs are pinned by SHA-256. They are unpacked into a repository of their own, @pytorch_source, so that
laying the tree out anew does not fetch it again. Upstream's own BUILD files are hidden, and overlay.BUILD.bazel makes
the whole tree one Bazel package whose lists come from upstream's `build_variables.bzl` and CMake files.
"""

load("//third_party:debian_sources.bzl", "extract_debian_source")
load(":sources.bzl", "DEBIAN_SOURCE", "RELEASE_TARBALL", "VERSION")

_SOURCE_DIR = "PYTORCH_SOURCE_DIR"

def _run(repository_ctx, arguments, failure):
    result = repository_ctx.execute(arguments, timeout = 600)
    if result.return_code:
        fail("%s\n%s%s" % (failure, result.stdout, result.stderr))
    return result.stdout

def _python(repository_ctx):
    python = repository_ctx.which("python3")
    if not python:
        fail("@pytorch needs python3 on PATH to lay the source out. Install it, or use ./bazelw, which brings one.")
    return python

def _apply_patches(repository_ctx):
    """Applies the patches that //patches:series lists to the extracted tarball."""
    series = repository_ctx.path(Label("//patches:series"))
    for line in repository_ctx.read(series).splitlines():
        name = line.partition("#")[0].strip()
        if name:
            _run(
                repository_ctx,
                ["patch", "--strip=1", "--forward", "--directory=tree", "--input=%s" % series.dirname.get_child(name)],
                "patches/%s does not apply to PyTorch %s. Bring it up to date, or take it out of patches/series:" % (name, VERSION),
            )

def _fetch(repository_ctx):
    """Extracts the first tarball that can be had; returns the line that `source.txt` keeps about it."""
    release = repository_ctx.download_and_extract(
        url = RELEASE_TARBALL.url,
        sha256 = RELEASE_TARBALL.sha256,
        stripPrefix = RELEASE_TARBALL.prefix,
        output = "tree",
        allow_fail = True,
    )
    if release.success:
        return "release tarball " + RELEASE_TARBALL.url
    if extract_debian_source(repository_ctx, DEBIAN_SOURCE, "tree"):
        return "Debian source package %s %s" % (DEBIAN_SOURCE.package, DEBIAN_SOURCE.version)
    fail(("No source of PyTorch {version} can be had: the release tarball could not be downloaded, and APT offers no " +
          "source package {package}={debian}. Either use ./bazelw, whose build root knows a Debian source, or unpack " +
          "PyTorch {version} yourself and build with --repo_env={variable}=FOLDER.").format(
        version = VERSION,
        package = DEBIAN_SOURCE.package,
        debian = DEBIAN_SOURCE.version,
        variable = _SOURCE_DIR,
    ))

def _pytorch_source_impl(repository_ctx):
    folder = repository_ctx.os.environ.get(_SOURCE_DIR)
    if folder:
        repository_ctx.symlink(folder, "tree")
        origin = "folder " + folder
    else:
        origin = _fetch(repository_ctx)
        _apply_patches(repository_ctx)
    repository_ctx.file("origin.txt", origin + "\n")
    repository_ctx.file("BUILD.bazel", '"""PyTorch\'s source as it was fetched; @pytorch lays it out."""\n')

pytorch_source_repository = repository_rule(
    implementation = _pytorch_source_impl,
    doc = "Fetches PyTorch's source tree, into `tree`.",
    environ = [_SOURCE_DIR],
)

def _pytorch_repository_impl(repository_ctx):
    origin = repository_ctx.read(Label("@pytorch_source//:origin.txt")).strip()
    folder = repository_ctx.os.environ.get(_SOURCE_DIR)
    tree = repository_ctx.path(folder) if folder else repository_ctx.path(Label("@pytorch_source//:origin.txt")).dirname.get_child("tree")
    for name in ["build_variables.bzl", "version.txt"]:
        if not tree.get_child(name).exists:
            fail("%s is not a PyTorch source tree: it has no %s. Name another one with --repo_env=%s=FOLDER." % (origin, name, _SOURCE_DIR))
    version = repository_ctx.read(tree.get_child("version.txt")).strip().split("a0")[0]
    if version != VERSION:
        # buildifier: disable=print
        print(("@pytorch is version %s (%s); this project is tested with %s. Where the build stops, `./bazelw run " +
               "//decouple -- diff` of the two trees tells what moved, and docs/porting.md what to do.") % (version, origin, VERSION))
    for folder in ["lists", "rules"]:
        # What layout.py reads upstream's lists with.
        repository_ctx.watch_tree(repository_ctx.path(Label("//decouple/%s:BUILD.bazel" % folder)).dirname)
    for name in ["errors.py", "gaps.py", "python_syntax.py", "tree.py"]:
        repository_ctx.watch(Label("//decouple:" + name))
    watched = _run(
        repository_ctx,
        [
            _python(repository_ctx),
            "-B",
            repository_ctx.path(Label("//upstream/source:layout.py")),
            "--tree",
            tree,
            "--out",
            repository_ctx.path("."),
        ],
        "PyTorch's source (%s) could not be laid out:" % origin,
    )
    for path in [tree.get_child(name) for name in watched.splitlines()]:
        # A unit that comes into or goes from a folder with upstream's globs, or a list, is seen at the next build.
        if path.is_dir:
            path.readdir()
        else:
            repository_ctx.watch(path)
    repository_ctx.symlink(Label("//upstream/source:overlay.BUILD.bazel"), "BUILD.bazel")
    repository_ctx.file("source.txt", origin + "\n")

pytorch_repository = repository_rule(
    implementation = _pytorch_repository_impl,
    doc = "Lays out PyTorch's source tree as one Bazel package.",
    environ = [_SOURCE_DIR],
)

def _pytorch_impl(_module_ctx):
    pytorch_source_repository(name = "pytorch_source")
    pytorch_repository(name = "pytorch")

pytorch = module_extension(
    implementation = _pytorch_impl,
    doc = "Declares @pytorch. Choose another tree with --repo_env=PYTORCH_SOURCE_DIR=FOLDER.",
)
