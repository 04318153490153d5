"""Lowers the head dimension up to which scaled dot product attention chooses flash attention.

Upstream's sdp_utils.cpp has the limit of its kernels written in it, with the warning that names it. A build with fewer of
the kernels has to choose another way for what they would have computed.

Usage: limit_head_dimension.py LIMIT SDP_UTILS_CPP OUTPUT
"""

import re
import sys
from pathlib import Path

_FULL = 256


def limited(source: str, limit: int) -> str:
    """Returns upstream's sdp_utils.cpp with another limit.

    Args:
      source: the text of upstream's file.
      limit: the head dimension, in elements, up to which there are kernels.

    Raises:
      ValueError: the file does not have the limit where it is looked for.
    """
    for pattern in (
        rf"(\bmax_size = c10::SymInt\(){_FULL}(\);)",
        rf"(less than or equal to ){_FULL}(\.\")",
    ):
        source, replaced = re.subn(pattern, rf"\g<1>{limit}\g<2>", source)
        if not replaced:
            message = (
                f"sdp_utils.cpp: nothing in it matches {pattern!r}, where this build lowers flash attention's head dimension to {limit}. "
                "Needed: a PyTorch that has it there, or --//config:attention=all or memory-efficient."
            )
            raise ValueError(message)
    return source


def main(arguments: list[str]) -> int:
    """Writes the changed file; returns 1 where upstream's has no such limit."""
    limit, source, output = arguments
    try:
        text = limited(Path(source).read_text(encoding="utf-8"), int(limit))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    Path(output).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
