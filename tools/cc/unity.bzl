"""unity_units: few translation units of many sources, for sources whose headers cost more than they themselves.

A file that includes ATen takes seconds, nearly all of them for what it includes. Each unit here includes a number of
sources, and is what a cc_library compiles; the sources are its textual_hdrs. Names in the unnamed namespaces of sources
that share a namespace must differ.
"""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

def _unity_units_impl(ctx):
    sources = sorted([file.path for file in ctx.files.srcs if file.extension == "cpp"])
    count = ctx.attr.units[BuildSettingInfo].value
    if count < 0:
        fail("%s is the number of translation units, 0 for one a source; found %d" % (ctx.attr.units.label, count))
    if count == 0 or count > len(sources):
        count = len(sources)

    # Neighbours stay together: what lies in one folder includes the same.
    units = []
    for number in range(count):
        unit = ctx.actions.declare_file("%s/unit_%d.cpp" % (ctx.attr.name, number))
        of_unit = sources[len(sources) * number // count:len(sources) * (number + 1) // count]
        ctx.actions.write(unit, "".join(["#include \"%s\"\n" % source for source in of_unit]))
        units.append(unit)
    return [DefaultInfo(files = depset(units))]

unity_units = rule(
    implementation = _unity_units_impl,
    attrs = {
        "srcs": attr.label_list(
            allow_files = [".cpp", ".h"],
            mandatory = True,
            doc = "Sources; headers among them are left out.",
        ),
        "units": attr.label(
            mandatory = True,
            providers = [BuildSettingInfo],
            doc = "int_flag: how many translation units; 0: one for each source.",
        ),
    },
    doc = "Writes NAME/unit_0.cpp, NAME/unit_1.cpp and so on, which include the sources in the order of their paths.",
)
