"""The rule that writes down Bazel's action graph: which file is made of which, up to the outputs of targets.

`bazel aquery` lists the actions of all targets that a wheel depends on, run or not. What is run follows from the files: an
action is, when somebody needs what it makes.
"""

_ActionsInfo = provider(
    doc = "The actions of a target and of what it depends on.",
    fields = {"lines": "depset of strings: an output, a tab and an input of the action that makes it."},
)

# They are many, and nothing is compiled for them.
_HEADERS = ("cuh", "h", "hpp", "inc", "inl")

def _targets(value):
    """Lists the targets in an attribute's value, whatever its type."""
    values = value if type(value) == "list" else value.keys() if type(value) == "dict" else [value]
    return [target for target in values if type(target) == "Target"]

def _actions_aspect_impl(target, ctx):
    direct = []
    for action in target.actions:
        inputs = [file.path for file in action.inputs.to_list() if file.extension not in _HEADERS]
        for output in action.outputs.to_list():
            if output.extension not in _HEADERS:
                direct += ["%s\t%s" % (output.path, path) for path in inputs]
    transitive = []
    for name in dir(ctx.rule.attr):
        # How a target is built (tools, compilers) is not what it is made of.
        if name.startswith("_") or name in ("tools", "toolchains", "exec_tools"):
            continue
        for dependency in _targets(getattr(ctx.rule.attr, name)):
            if _ActionsInfo in dependency:
                transitive.append(dependency[_ActionsInfo].lines)
    return [_ActionsInfo(lines = depset(direct, transitive = transitive))]

_actions_aspect = aspect(
    implementation = _actions_aspect_impl,
    attr_aspects = ["*"],
    doc = "Collects actions. None is run for it.",
)

def _action_graph_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".tsv")
    lines = sorted(depset(transitive = [root[_ActionsInfo].lines for root in ctx.attr.roots]).to_list())
    ctx.actions.write(output, "".join([line + "\n" for line in lines]))
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

action_graph = rule(
    implementation = _action_graph_impl,
    doc = """Writes NAME.tsv: the actions of targets and of what they depend on, headers left out.

A line is a file, a tab and a file that it is made of.""",
    attrs = {
        "roots": attr.label_list(
            aspects = [_actions_aspect],
            doc = "Where to start.",
            mandatory = True,
        ),
    },
)
