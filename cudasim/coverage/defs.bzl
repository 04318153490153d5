"""coverage_page_test: what there is and what is tested, found out by running tests and reading their object code."""

load("//cudasim/coverage/mutants:defs.bzl", "own_objects")

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

def _coverage_page_test_impl(ctx):
    page = ctx.actions.declare_file(ctx.label.name + ".md")
    arguments = ctx.actions.args()
    inputs = []
    tools = []
    for recorder in ctx.attr.recorders:
        program = recorder[DefaultInfo].files_to_run
        tools.append(program)
        arguments.add("--run", program.executable)
    for stubs, soname in ctx.attr.libraries.items():
        source = stubs[DefaultInfo].files.to_list()[0]
        script = stubs[OutputGroupInfo].version_script.to_list()[0]
        inputs += [source, script]
        arguments.add_all("--library", [soname, script, source])
    for caller in ctx.attr.callers:
        objects = own_objects(caller)
        inputs += objects
        arguments.add_all("--test", ["//%s:%s" % (caller.label.package, caller.label.name)] + objects)
    arguments.add_all(ctx.files.families, before_each = "--source")
    arguments.add("--answers", ctx.file.answers)
    arguments.add("--output", page)
    ctx.actions.run(
        executable = ctx.executable._generate,
        arguments = [arguments],
        inputs = inputs + [ctx.file.answers],
        outputs = [page],
        tools = tools,
        mnemonic = "CoveragePage",
        progress_message = "Finding out what the simulated device covers",
        use_default_shell_env = True,
    )
    check = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        check,
        _CHECK.format(made = page.short_path, page = ctx.file.page.short_path, package = ctx.label.package),
        is_executable = True,
    )
    return [DefaultInfo(executable = check, runfiles = ctx.runfiles(files = [page, ctx.file.page]))]

coverage_page_test = rule(
    implementation = _coverage_page_test_impl,
    attrs = {
        "answers": attr.label(mandatory = True, allow_single_file = [".json"], doc = "What tests notice of wrong answers."),
        "callers": attr.label_list(doc = "The tests that `answers` tells of; their object code says which functions they call."),
        "families": attr.label_list(
            allow_files = [".cpp"],
            doc = "Where the families of instructions are.",
        ),
        "libraries": attr.label_keyed_string_dict(
            doc = "The stubs of drop-in libraries (//accelerator/runtime/dropin) and the sonames.",
        ),
        "page": attr.label(mandatory = True, allow_single_file = [".md"], doc = "The page that is checked in."),
        "recorders": attr.label_list(
            doc = "Tests that record which instructions they have checked (//cudasim/engine/testing).",
        ),
        "_generate": attr.label(
            cfg = "exec",
            default = ":generate",
            executable = True,
        ),
    },
    doc = """Fails when the page that is checked in is not what the build and the tests say; `bazel run` replaces it.

    It is a test because it uses tests: a rule that is none would have them built a second time.""",
    test = True,
)
