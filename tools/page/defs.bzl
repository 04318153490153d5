"""page_test_rule: makes rules for pages of docs/ that a program writes from what the build makes and tests say."""

_CHECK = """#!/bin/sh
# `bazel run` brings the page in the workspace up to date, `bazel test` compares.
set -u
made={made}
page={page}
if [ -n "${{BUILD_WORKSPACE_DIRECTORY:-}}" ]; then
  cp "$made" "$BUILD_WORKSPACE_DIRECTORY/$page" && chmod 644 "$BUILD_WORKSPACE_DIRECTORY/$page"
  exit
fi
if ! cmp -s "$page" "$made"; then
  diff "$page" "$made" | head -n 30
  echo "$page is out of date; type: ./bazelw run //{package}:update" >&2
  exit 1
fi
"""

def page_test_rule(generate, inputs, attrs, doc):
    """Makes a rule that fails when the page that is checked in is not what a program writes; `bazel run` replaces it.

    The rule is a test because it uses tests: a rule that is none would have them built a second time. In its package
    the alias `update` stands for the target that is run.

    Args:
        generate: Label of the program; `--output FILE` tells it where the page goes.
        inputs: function of the rule's ctx and the program's Args, which adds the other arguments and returns two
            lists: the files that they name, and the programs (FilesToRunProvider).
        attrs: dict, the rule's attributes besides `page`.
        doc: string, what the rule is for.

    Returns:
        The rule.
    """

    def implementation(ctx):
        page = ctx.actions.declare_file(ctx.label.name + ".md")
        arguments = ctx.actions.args()
        files, programs = inputs(ctx, arguments)
        arguments.add("--output", page)
        ctx.actions.run(
            executable = ctx.executable._generate,
            arguments = [arguments],
            inputs = files,
            outputs = [page],
            tools = programs,
            mnemonic = "GeneratePage",
            progress_message = "Writing %s" % ctx.file.page.short_path,
            use_default_shell_env = True,
        )
        check = ctx.actions.declare_file(ctx.label.name + ".sh")
        ctx.actions.write(
            check,
            _CHECK.format(made = page.short_path, page = ctx.file.page.short_path, package = ctx.label.package),
            is_executable = True,
        )
        return [DefaultInfo(executable = check, runfiles = ctx.runfiles(files = [page, ctx.file.page]))]

    return rule(
        implementation = implementation,
        attrs = attrs | {
            "page": attr.label(mandatory = True, allow_single_file = [".md"], doc = "The page that is checked in."),
            "_generate": attr.label(cfg = "exec", default = generate, executable = True),
        },
        doc = doc,
        test = True,
    )
