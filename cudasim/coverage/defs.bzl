"""instructions_page_test: which instructions there are and which are tested, found out by running tests."""

load("//tools/page:defs.bzl", "page_test_rule")

def _inputs(ctx, arguments):
    recorders = [recorder[DefaultInfo].files_to_run for recorder in ctx.attr.recorders]
    arguments.add_all([recorder.executable for recorder in recorders], before_each = "--run")
    arguments.add_all(ctx.files.families, before_each = "--source")
    return [], recorders

instructions_page_test = page_test_rule(
    generate = Label(":generate"),
    inputs = _inputs,
    attrs = {
        "families": attr.label_list(
            allow_files = [".cpp"],
            doc = "Where the families of instructions are.",
        ),
        "recorders": attr.label_list(
            doc = "Tests that record which instructions they have checked (//cudasim/engine/testing).",
        ),
    },
    doc = "Fails when the page of instructions is not what the tests record.",
)
