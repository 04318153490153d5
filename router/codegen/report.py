"""What serves each operator on a vendor's device: its own kernel, the CPU's, or none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from router.codegen.operators import Operators
from router.codegen.upstream_operators import Upstream


def served(operators: Operators, upstream: Upstream) -> dict[str, list[str]]:
    """Sorts the operators that PyTorch has a CUDA kernel of by who serves them.

    Args:
      operators: of the vendor's YAML.
      upstream: PyTorch's operators.

    Returns:
      Names by "native" (the vendor's kernel), "fallback" (the CPU's kernel, or other operators that
      it is made of, on the device's memory) and "missing" (neither; calling it is an error); and
      the vendor's own operators by "own".
    """
    native = {entry.name for entry in operators.entries if not entry.own}
    for entry in operators.entries:
        if entry.structured:
            native |= {str(f.func.name) for f in upstream.group(entry.name).functions()}
    others = upstream.with_cuda - native
    return {
        "native": sorted(native),
        "fallback": sorted(others & upstream.with_cpu),
        "missing": sorted(others - upstream.with_cpu),
        "own": sorted(f"{operators.device}::{e.name}" for e in operators.entries if e.own),
    }


def as_json(operators: Operators, torch: str, names: Mapping[str, Sequence[str]]) -> str:
    """The report for programs.

    Args:
      operators: of the vendor's YAML.
      torch: the version of PyTorch.
      names: what `served` returns.
    """
    return json.dumps({"device": operators.device, "torch": torch, **names}, indent=1) + "\n"


_MEANING = {
    "native": "kernels of the device",
    "fallback": "kernels of the CPU, on the device's memory (or CUDA's, where the device runs PTX)",
    "missing": "no kernel of the CPU either: an error where a program gets there",
    "own": "operators that the device adds",
}


def as_markdown(operators: Operators, torch: str, names: Mapping[str, Sequence[str]]) -> str:
    """The report for people.

    Args:
      operators: of the vendor's YAML.
      torch: the version of PyTorch.
      names: what `served` returns.
    """
    lines = [
        f"# Operators of {operators.device}, PyTorch {torch}",
        "",
        "Of the operators that PyTorch has a CUDA kernel of, and of the device's own:",
        "",
        "| | operators | served by |",
        "|---|---|---|",
    ]
    lines += [f"| {kind} | {len(names[kind])} | {_MEANING[kind]} |" for kind in _MEANING]
    for kind in _MEANING:
        lines += ["", f"## {kind}", ""]
        lines += [f"- `{name}`" for name in names[kind]] or ["None."]
    return "\n".join(lines) + "\n"
