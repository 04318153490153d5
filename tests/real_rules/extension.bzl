"""Module extension that declares @real_rules: the folder that --repo_env=REAL_RULES=FOLDER names."""

_VARIABLE = "REAL_RULES"

def _real_rules_repository_impl(repository_ctx):
    folder = repository_ctx.os.environ.get(_VARIABLE, "")
    repository_ctx.file("BUILD.bazel", '"""What the caller gave."""\n')
    repository_ctx.file("folder.bzl", '"""What the caller gave; empty where that is nothing."""\n\nREAL_RULES = %r\n' % folder)

real_rules_repository = repository_rule(
    implementation = _real_rules_repository_impl,
    doc = "The name of a folder, in `folder.bzl`.",
    environ = [_VARIABLE],
)

def _real_rules_impl(_module_ctx):
    real_rules_repository(name = "real_rules")

real_rules = module_extension(
    implementation = _real_rules_impl,
    doc = "Declares @real_rules.",
)
