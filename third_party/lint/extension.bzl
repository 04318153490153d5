"""The module extension that fetches the tools of //tools/lint.

Each tool of tools.json is a repository of its own with one target, the binary:
`@ruff`, `@clang_format`, `@clang_tidy`, `@shellcheck`, `@buildifier`. They come from PyPI and
npm, from wherever pip and npm are configured to look on this machine, and have
to match the hashes in tools.json. mypy is not among them: the build root
brings it.

In MODULE.bazel:

    lint = use_extension("//third_party/lint:extension.bzl", "lint_tools", dev_dependency = True)
    use_repo(lint, "buildifier", "clang_format", "clang_tidy", "ruff", "shellcheck")
"""

_BUILD = """\
\"\"\"{tool}, as fetched by third_party/lint.\"\"\"

package(default_visibility = ["//visibility:public"])

exports_files(["{tool}"])

# Of a compiler alone.
filegroup(
    name = "include",
    srcs = glob(["include/**"], allow_empty = True),
)
"""

_FAILED = """\
{tool} for the lint checks could not be fetched: {reason}
  Needed: a PyPI (ruff, clang-format, clang-tidy, shellcheck) and an npm registry (buildifier) that this machine reaches.
  Set PIP_INDEX_URL or npm_config_registry (PIP_CERT and SSL_CERT_FILE for a certificate of your own) and repeat,
  or leave the checks out: bazel test -- //... -//tools/lint/..."""

def _lint_tool_impl(ctx):
    python = ctx.which("python3")
    if not python:
        fail(_FAILED.format(tool = ctx.attr.tool, reason = "there is no python3 on the PATH"))
    result = ctx.execute(
        [python, "-I", ctx.path(ctx.attr._fetch), ctx.path(ctx.attr.tools_json), ctx.attr.tool, ctx.attr.tool],
        timeout = 600,
    )
    if result.return_code:
        fail(_FAILED.format(tool = ctx.attr.tool, reason = result.stderr.strip()))
    ctx.file("BUILD.bazel", _BUILD.format(tool = ctx.attr.tool))

lint_tool = repository_rule(
    implementation = _lint_tool_impl,
    doc = "One tool of tools.json, fetched, checked against its hash and unpacked.",
    attrs = {
        "tool": attr.string(
            doc = "The key in tools.json; also the name of the target.",
            mandatory = True,
        ),
        "tools_json": attr.label(
            doc = "The file with versions and hashes.",
            allow_single_file = [".json"],
            mandatory = True,
        ),
        "_fetch": attr.label(
            allow_single_file = True,
            default = "//third_party/lint:fetch.py",
        ),
    },
)

def _lint_tools_impl(ctx):
    tools_json = Label("//third_party/lint:tools.json")
    for tool in json.decode(ctx.read(tools_json)):
        lint_tool(
            name = tool,
            tool = tool,
            tools_json = tools_json,
        )

lint_tools = module_extension(
    implementation = _lint_tools_impl,
    doc = "Makes one repository for each entry of tools.json.",
)
