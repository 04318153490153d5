"""Writes a vendor's operators from its YAML: C++, the list of kernels to check, and the report.

generate --torch 2.15 --yaml operators.yaml --device NAME --header F --source F --kernels F --markdown F --json F
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from collections.abc import Sequence

from router.codegen import cpp, operators, report, upstream_operators


def kernels(read: operators.Operators) -> str:
    """The functions that the vendor has to define, for check_kernels.py.

    Args:
      read: the YAML's operators.

    Returns:
      JSON: a list of objects with `function`, `operator`, `line` and `source`.
    """
    functions = []
    for entry in read.entries:
        name = entry.kernel
        if name and entry.structured:
            name = f"structured_{name}::impl"
        functions += [
            {
                "function": f"{read.device}::{function}",
                "operator": entry.name,
                "line": entry.line,
                "source": read.source,
            }
            for function in (name, entry.meta)
            if function
        ]
    return json.dumps(functions, indent=1) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Writes all outputs, or says what is wrong with the YAML.

    Args:
      argv: see the module; the process's own arguments if None.

    Returns:
      The exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, help="version of the PyTorch of this torchgen")
    parser.add_argument("--device", required=True)
    for name in ("yaml", "header", "source", "kernels", "markdown", "json"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    arguments = parser.parse_args(argv)
    upstream = upstream_operators.read(arguments.torch)
    try:
        read = operators.read(
            arguments.yaml.read_text(encoding="utf-8"),
            str(arguments.yaml),
            arguments.device,
            upstream,
        )
    except operators.YamlError as error:
        print(error, file=sys.stderr)
        return 1
    names = report.served(read, upstream)
    for path, text in (
        (arguments.header, cpp.header(read, upstream)),
        (arguments.source, cpp.source(read, upstream)),
        (arguments.kernels, kernels(read)),
        (arguments.markdown, report.as_markdown(read, upstream.version, names)),
        (arguments.json, report.as_json(read, upstream.version, names)),
    ):
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
