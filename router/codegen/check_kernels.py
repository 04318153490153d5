"""Says which kernels of a vendor's YAML nobody has defined, before the link does, and in words.

    check_kernels --kernels kernels.json --nm nm --stamp FILE OBJECT...

What the generated registrations call and no object defines is looked up in what generate.py wrote
down of the YAML; a function of that name with other arguments is named as well.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def symbols(nm: str, objects: Iterable[pathlib.Path]) -> tuple[set[str], set[str]]:
    """The functions that objects call or define, as C++ writes them.

    Args:
      nm: the program.
      objects: object files.

    Returns:
      Those that are called, and those that are defined.
    """
    called: set[str] = set()
    defined: set[str] = set()
    for path in objects:
        text = subprocess.run(
            [nm, "--demangle", str(path)], check=True, capture_output=True, text=True
        ).stdout
        for line in text.splitlines():
            # "0000000000000000 T acme::relu(at::Tensor const&)", or without the address
            kind, _, name = line[17:].partition(" ")
            if " [clone " in name:
                continue  # a part of a function that the compiler has split off
            (called if kind == "U" else defined).add(name)
    return called, defined


def undefined(
    kernels: Iterable[Mapping[str, Any]], called: Iterable[str], defined: Iterable[str]
) -> list[str]:
    """The messages about kernels that are called and not defined.

    Args:
      kernels: what generate.py wrote.
      called: by any object.
      defined: in any object.

    Returns:
      A message for each kernel, in the order of the YAML.
    """
    missing = set(called) - set(defined)
    messages = []
    for kernel in kernels:
        name = kernel["function"]
        for wanted in sorted(symbol for symbol in missing if symbol.startswith(f"{name}(")):
            near = sorted(symbol for symbol in defined if symbol.startswith(f"{name}("))
            messages.append(
                f"{kernel['source']}:{kernel['line']}: the kernel of {kernel['operator']} is not "
                f"defined:\n  needed {wanted}\n  found  {', '.join(near) or 'none of that name'}\n"
                f"  Define it in the sources, or take the entry out of {kernel['source']}."
            )
    return messages


def main(argv: Sequence[str] | None = None) -> int:
    """Checks the objects of a library of operators.

    Args:
      argv: see the module; the process's own arguments if None.

    Returns:
      The exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=pathlib.Path, required=True)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--stamp", type=pathlib.Path, required=True)
    parser.add_argument("objects", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args(argv)
    called, defined = symbols(arguments.nm, arguments.objects)
    kernels = json.loads(arguments.kernels.read_text(encoding="utf-8"))
    messages = undefined(kernels, called, defined)
    if messages:
        print("\n".join(messages), file=sys.stderr)
        return 1
    arguments.stamp.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
