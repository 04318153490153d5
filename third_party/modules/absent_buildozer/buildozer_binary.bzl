"""The extension that Bazel's MODULE.bazel asks buildozer for; only `bazel mod tidy` uses it."""

def _empty_repo_impl(repository_ctx):
    repository_ctx.file("BUILD.bazel", "")

_empty_repo = repository_rule(implementation = _empty_repo_impl)

def _buildozer_binary_impl(_module_ctx):
    _empty_repo(name = "buildozer_binary")

buildozer_binary = module_extension(
    implementation = _buildozer_binary_impl,
    doc = "Declares an empty `@buildozer_binary`: `bazel mod tidy` needs the open registry.",
)
