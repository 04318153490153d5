"""functions_page_test: which functions the drop-in libraries have, and which of them tests check."""

load("//runtime/coverage/mutants:defs.bzl", "own_objects")
load("//tools/page:defs.bzl", "page_test_rule")

def _inputs(ctx, arguments):
    files = [ctx.file.answers]
    arguments.add("--answers", ctx.file.answers)
    for stubs, soname in ctx.attr.libraries.items():
        source = stubs[DefaultInfo].files.to_list()[0]
        script = stubs[OutputGroupInfo].version_script.to_list()[0]
        files += [source, script]
        arguments.add_all("--library", [soname, script, source])
    for caller in ctx.attr.callers:
        objects = own_objects(caller)
        files += objects
        arguments.add_all("--test", ["//%s:%s" % (caller.label.package, caller.label.name)] + objects)
    return files, []

functions_page_test = page_test_rule(
    generate = Label(":generate"),
    inputs = _inputs,
    attrs = {
        "answers": attr.label(mandatory = True, allow_single_file = [".json"], doc = "What tests notice of wrong answers."),
        "callers": attr.label_list(doc = "The tests that `answers` tells of; their object code says which functions they call."),
        "libraries": attr.label_keyed_string_dict(
            doc = "The stubs of drop-in libraries (//runtime/dropin) and the sonames.",
        ),
    },
    doc = "Fails when the page of the libraries' functions is not what the build and the measured answers say.",
)
