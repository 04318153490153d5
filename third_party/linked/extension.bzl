"""The module extension that says which static libraries of this system the build links: `@linked`.

`@linked//:versions.json` has their versions by name, `@linked//:licences/NAME` the text that their licence asks to hand on. Both
are what Debian's packages say of the file that the compiler finds.

In MODULE.bazel:

    linked = use_extension("//third_party/linked:extension.bzl", "linked")
    use_repo(linked, "linked")
"""

# The archive of each, as the linker finds it.
_ARCHIVES = {
    "LZ4": "liblz4.a",
    "OpenBLAS": "libopenblas.a",
}

_BUILD = '''"""Static libraries of this system, as found by third_party/linked."""

package(default_visibility = ["//visibility:public"])

exports_files(["versions.json"] + glob(["licences/*"]))
'''

_UNKNOWN = "The package of %s is not known here: %s. Its licence goes with each copy of this wheel.\n"

def _output(ctx, command):
    result = ctx.execute(command)
    return result.stdout.strip() if result.return_code == 0 else ""

def _package(ctx, archive):
    """The Debian package of a static library, or None with the reason why there is none."""
    compiler = ctx.which("gcc") or ctx.which("cc")
    if not compiler:
        return None, "there is no C compiler"
    found = _output(ctx, [compiler, "-print-file-name=" + archive])
    if not found.startswith("/"):
        return None, "the compiler finds no %s" % archive
    if not ctx.which("dpkg-query"):
        return None, "the system has no dpkg-query"
    owner = _output(ctx, ["dpkg-query", "--search", str(ctx.path(found).realpath)])
    if not owner:
        return None, "no package has %s" % archive
    return owner.partition(": ")[0], ""

def _linked_repository_impl(ctx):
    versions = {}
    for name, archive in _ARCHIVES.items():
        package, reason = _package(ctx, archive)
        text = ""
        if package:
            versions[name] = _output(ctx, ["dpkg-query", "--show", "--showformat=${source:Version}", package])
            text = _output(ctx, ["cat", "/usr/share/doc/%s/copyright" % package.partition(":")[0]])
            reason = "%s has no file copyright" % package
        ctx.file("licences/" + name, text + "\n" if text else _UNKNOWN % (name, reason))
    ctx.file("versions.json", json.encode_indent(versions) + "\n")
    ctx.file("BUILD.bazel", _BUILD)

linked_repository = repository_rule(
    implementation = _linked_repository_impl,
    doc = "Versions and licences of static libraries of this system.",
    local = True,
)

def _linked_extension_impl(_ctx):
    linked_repository(name = "linked")

linked = module_extension(
    implementation = _linked_extension_impl,
    doc = "Makes the repository @linked.",
)
