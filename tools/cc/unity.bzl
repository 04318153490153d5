"""unity_units and unity_library: translation units of several sources, for sources that cost less than their headers.

A file that includes ATen takes seconds, nearly all of them for what it includes; with the standard library alone it is
half of them. Each unit here includes a number of sources, and is what a cc_library compiles; the sources are its
textual_hdrs. Names in the unnamed namespaces of sources that share a namespace must differ. For CUDA: cuda_library.bzl.
"""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:defs.bzl", "cc_library")

def _count_units(ctx, sources):
    """Returns how many units there are of so many sources."""
    setting = ctx.attr.units or ctx.attr.sources_a_unit
    number = setting[BuildSettingInfo].value
    if number < 0:
        fail("%s is a number of %s; found %d" % (
            setting.label,
            "translation units, 0 for one a source" if ctx.attr.units else "sources a translation unit, 0 for all",
            number,
        ))
    if ctx.attr.units:
        return min(number, sources) or sources
    return (sources + number - 1) // number if number else 1

def _unity_units_impl(ctx):
    files = [file for file in ctx.files.srcs if file.extension != "h"]
    extensions = {file.extension: None for file in files}.keys()
    if len(extensions) != 1:
        fail("%s: a unit has sources of one compiler, .cpp or .cu; found %s" % (ctx.label, " and ".join(extensions) or "none"))
    sources = sorted([file.path for file in files])
    count = _count_units(ctx, len(sources))

    # Neighbours stay together: what lies in one folder includes the same.
    units = []
    for number in range(count):
        unit = ctx.actions.declare_file("%s/unit_%d.%s" % (ctx.attr.name, number, extensions[0]))
        of_unit = sources[len(sources) * number // count:len(sources) * (number + 1) // count]
        ctx.actions.write(unit, "".join(["#include \"%s\"\n" % source for source in of_unit]))
        units.append(unit)
    return [DefaultInfo(files = depset(units))]

unity_units = rule(
    implementation = _unity_units_impl,
    attrs = {
        "sources_a_unit": attr.label(
            default = "//tools/cc:sources_a_unit",
            providers = [BuildSettingInfo],
            doc = "int_flag: how many sources a unit has at most, where `units` does not say how many there are.",
        ),
        "srcs": attr.label_list(
            allow_files = [".cpp", ".cu", ".h"],
            mandatory = True,
            doc = "Sources, all .cpp or all .cu; headers among them are left out.",
        ),
        "units": attr.label(
            providers = [BuildSettingInfo],
            doc = "int_flag: how many translation units; 0: one for each source.",
        ),
    },
    doc = "Writes NAME/unit_0.cpp, NAME/unit_1.cpp and so on, or .cu, which include the sources in the order of their paths.",
)

def unity_library(name, srcs, units = None, **kwargs):
    """A cc_library whose sources are compiled several at a time: //tools/cc:sources_a_unit.

    Args:
        name: string, name of the cc_library.
        srcs: list of labels, sources and headers; files or filegroups.
        units: label of an int_flag, how many translation units there are of it, instead of that setting.
        **kwargs: further attributes of the cc_library.
    """
    unity_units(
        name = name + "_units",
        srcs = srcs,
        tags = kwargs.get("tags"),
        units = units,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [name + "_units"],
        textual_hdrs = srcs + kwargs.pop("textual_hdrs", []),
        **kwargs
    )
