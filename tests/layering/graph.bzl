"""The rule that writes down what targets of this repository depend on.

`genquery` would need every package that anything could ever load, toolchains of other platforms
included; an aspect sees what a build really uses.
"""

_EdgesInfo = provider(
    doc = "Dependencies within this repository.",
    fields = {"edges": "depset of strings, lines of a graph in Graphviz's language."},
)

def _targets(value):
    """Lists the targets in an attribute's value, whatever its type."""
    values = value if type(value) == "list" else value.keys() if type(value) == "dict" else [value]
    return [target for target in values if type(target) == "Target"]

def _edges_aspect_impl(target, ctx):
    direct = []
    transitive = []
    for name in dir(ctx.rule.attr):
        # How a target is built (tools, compilers) is not what it is made of.
        if name.startswith("_") or name in ("tools", "toolchains", "exec_tools"):
            continue
        for dependency in _targets(getattr(ctx.rule.attr, name)):
            if not target.label.workspace_name and not dependency.label.workspace_name:
                direct.append("\"{}\" -> \"{}\"".format(target.label, dependency.label))
            if _EdgesInfo in dependency:
                transitive.append(dependency[_EdgesInfo].edges)
    return [_EdgesInfo(edges = depset(direct, transitive = transitive))]

_edges_aspect = aspect(
    implementation = _edges_aspect_impl,
    attr_aspects = ["*"],
    doc = "Collects the dependencies within this repository.",
)

def _dependency_graph_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".dot")
    edges = depset(transitive = [root[_EdgesInfo].edges for root in ctx.attr.roots])
    lines = ["digraph {"] + sorted(edges.to_list()) + ["}"]
    ctx.actions.write(output, "\n".join(lines) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

dependency_graph = rule(
    implementation = _dependency_graph_impl,
    doc = """Writes NAME.dot: the dependencies of targets, and of what they depend on, within this repository.

Each edge is a line, `"SOURCE" -> "TARGET"`.""",
    attrs = {
        "roots": attr.label_list(
            aspects = [_edges_aspect],
            doc = "Where to start.",
            mandatory = True,
        ),
    },
)
