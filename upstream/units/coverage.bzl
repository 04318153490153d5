"""upstream_units: every CUDA unit that upstream lists belongs to exactly one package, or the build says which does not."""

load("@rules_cc//cc:defs.bzl", "CcInfo")

_OwnedUnitsInfo = provider(
    doc = "Upstream's units that a target and its dependencies compile.",
    fields = {"owned": "depset of struct(unit, owner): path in @pytorch, label of the compiling target"},
)

def _owned_units_impl(target, ctx):
    if target.label.workspace_name:
        return [_OwnedUnitsInfo(owned = depset())]
    owned = [
        struct(unit = src.label.name, owner = target.label)
        for src in getattr(ctx.rule.attr, "srcs", [])
        if src.label.workspace_name == ctx.attr._pytorch.label.workspace_name
    ]

    # A unit that is changed before it is compiled is the source of a rule, and that rule's output is the unit's.
    children = getattr(ctx.rule.attr, "deps", []) + getattr(ctx.rule.attr, "srcs", [])
    library = getattr(ctx.rule.attr, "library", [])
    if type(library) == "list":
        children = children + library
    units = getattr(ctx.rule.attr, "units", {})
    if type(units) == "dict":
        children = children + units.keys()
    return [_OwnedUnitsInfo(owned = depset(
        owned,
        transitive = [child[_OwnedUnitsInfo].owned for child in children if _OwnedUnitsInfo in child],
    ))]

_owned_units = aspect(
    implementation = _owned_units_impl,
    attr_aspects = [
        "deps",
        "library",
        "srcs",
        "units",
    ],
    attrs = {"_pytorch": attr.label(default = "@pytorch//:version.txt", allow_single_file = True)},
)

def _upstream_units_impl(ctx):
    owners = {}
    for package in ctx.attr.packages:
        for entry in package[_OwnedUnitsInfo].owned.to_list():
            if entry.owner not in owners.setdefault(entry.unit, []):
                owners[entry.unit].append(entry.owner)
    problems = ["%s is in no package" % unit for unit in ctx.attr.units if unit not in owners]
    problems += [
        "%s is in several packages: %s" % (unit, ", ".join([str(label) for label in labels]))
        for unit, labels in owners.items()
        if len(labels) > 1
    ]
    problems += ["%s is compiled by %s, but upstream does not list it for CUDA" % (unit, owners[unit][0]) for unit in owners if unit not in ctx.attr.units]
    if problems:
        fail("Upstream's CUDA units and the packages of this repository differ:\n  " + "\n  ".join(sorted(problems)) +
             "\nEach unit belongs to one package: see docs/architecture.md, \"Who owns a unit\".")
    table = ctx.actions.declare_file(ctx.label.name + ".tsv")
    ctx.actions.write(table, "".join([
        "%s\t//%s\n" % (unit, owners[unit][0].package)
        for unit in sorted(owners)
    ]))
    return [DefaultInfo(files = depset([table]))]

upstream_units = rule(
    implementation = _upstream_units_impl,
    attrs = {
        "packages": attr.label_list(
            mandatory = True,
            providers = [CcInfo],
            aspects = [_owned_units],
            doc = "Libraries that together own all units.",
        ),
        "units": attr.string_list(
            mandatory = True,
            doc = "Every unit that upstream builds for CUDA, as paths in @pytorch.",
        ),
    },
    doc = "A table, unit and package a line, of all CUDA units; fails where a unit has no package or several.",
)
