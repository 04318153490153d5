"""Writes the C++ by which a vendor's own operators are called and differentiated."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

from torchgen.api.types import DispatcherSignature
from torchgen.context import native_function_manager

from router.codegen.operators import Entry

_WORD = re.compile(r"[A-Za-z_]\w*")
# What keeps the value of an argument that is only looked at.
_OWNERS = {
    "at::IntArrayRef": "std::vector<int64_t>",
    "c10::string_view": "std::string",
    "at::ArrayRef<double>": "std::vector<double>",
}


_IS_NEEDED = """namespace {

bool is_needed(torch::autograd::AutogradContext* context, const std::string& argument) {
  const int64_t edge = context->saved_data["edge of " + argument].toInt();
  return edge >= 0 && context->needs_input_grad(edge);
}

} // namespace
"""


def declarations(own: Sequence[Entry]) -> str:
    """Declares a function for each operator that calls it.

    Args:
      own: the vendor's own operators.
    """
    return "\n".join(_of_function(_declaration, entry) for entry in own)


def definitions(device: str, own: Sequence[Entry]) -> str:
    """Defines these functions, and a node of autograd for each operator that has derivatives.

    Args:
      device: namespace of the operators.
      own: the vendor's own operators.
    """
    calls = [_of_function(functools.partial(_call, device), entry) for entry in own]
    nodes = [_of_function(_node, entry) for entry in own if entry.autograd]
    return "\n".join(calls + [_IS_NEEDED, *nodes] if nodes else calls)


def wrapper(entry: Entry) -> str:
    """The function that serves an operator at the key Autograd, in namespace `ops`."""
    return f"{_name(entry)}_autograd"


def _name(entry: Entry) -> str:
    name: str = entry.function.func.name.unambiguous_name()
    return name


def _of_function(write: Callable[[Entry], str], entry: Entry) -> str:
    """Calls what writes about a function: torchgen's types depend on which one it is."""
    with native_function_manager(entry.function):
        return write(entry)


def _signature(entry: Entry) -> DispatcherSignature:
    return DispatcherSignature.from_schema(entry.function.func, symint=False)


def _declaration(entry: Entry) -> str:
    return f"{_signature(entry).decl(name=_name(entry))};"


def _call(device: str, entry: Entry) -> str:
    signature = _signature(entry)
    func = entry.function.func
    names = ", ".join(argument.name for argument in signature.arguments())
    return f"""{signature.defn(name=_name(entry))} {{
  static auto op = c10::Dispatcher::singleton()
      .findSchemaOrThrow("{device}::{func.name.name}", "{func.name.overload_name}")
      .typed<{signature.type()}>();
  return op.call({names});
}}
"""


def _node(entry: Entry) -> str:
    signature = _signature(entry)
    arguments = signature.arguments()
    names = [argument.name for argument in arguments]
    used = {word for formula in entry.autograd.values() for word in _WORD.findall(formula)}
    tensors = [
        argument.name
        for argument in entry.function.func.arguments.flat_all
        if str(argument.type) in ("Tensor", "Tensor?")
    ]
    optional = {
        argument.name
        for argument in entry.function.func.arguments.flat_all
        if str(argument.type) == "Tensor?"
    }
    saved = [name for name in [*tensors, "result"] if name in used]
    kept = [argument for argument in arguments if argument.name in used - set(tensors)]

    def as_variable(name: str) -> str:
        return f"{name}.value_or(at::Tensor())" if name in optional else name

    save = [f'    context->saved_data["{a.name}"] = {a.name};' for a in kept]
    if saved:
        save.append(f"    context->save_for_backward({{{', '.join(map(as_variable, saved))}}});")
    load = [f"    const at::Tensor& {name} = saved[{i}];" for i, name in enumerate(saved)]
    if saved:
        load.insert(0, "    const auto saved = context->get_saved_variables();")
    for argument in kept:
        plain = re.sub(r"^const (.*) &$", r"\1", argument.type.replace(" const&", " &"))
        owner = _OWNERS.get(plain, plain)
        load.append(
            f'    const auto {argument.name} = context->saved_data["{argument.name}"].to<{owner}>();'
        )
    # Which of the node's edges is an argument's: none is an optional's that was left out.
    save.append("    int64_t edges = 0;")
    for name in tensors:
        given = f"{name} && {name}->defined() ? edges++ : -1" if name in optional else "edges++"
        save.append(f'    context->saved_data["edge of {name}"] = {given};')
    results = [f"    torch::autograd::variable_list gradients({len(names)});"]
    for name, formula in entry.autograd.items():
        results += [
            f'    if (is_needed(context, "{name}")) {{',
            f"      gradients[{names.index(name)}] = {formula};",
            "    }",
        ]
    listed = ", ".join(names)
    node = f"{_name(entry)}_node"
    save_text, load_text, results_text = "\n".join(save), "\n".join(load), "\n".join(results)
    decls = ", ".join(argument.decl() for argument in arguments)
    return f"""namespace {{

struct {node} : torch::autograd::Function<{node}> {{
  static at::Tensor forward(
      [[maybe_unused]] torch::autograd::AutogradContext* context, {decls}) {{
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor result = {_name(entry)}({listed});
{save_text}
    return result;
  }}
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context,
      const torch::autograd::variable_list& outputs) {{
    [[maybe_unused]] const at::Tensor& grad = outputs[0];
{load_text}
{results_text}
    return gradients;
  }}
}};

{signature.defn(name=wrapper(entry))} {{
  return {node}::apply({listed});
}}

}} // namespace
"""
