"""Command line: ``python -m torch_cuda doctor``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
      argv: the arguments; those of the process by default.

    Returns:
      Exit code: 0 when torch_cuda is active, 1 when it is off, 2 for a wrong command line.
    """
    parser = argparse.ArgumentParser(prog="python -m torch_cuda", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="say what was found, and whether CUDA is active")
    commands.add_parser("version", help="print the version of torch_cuda")
    arguments = parser.parse_args(argv)
    if arguments.command == "version":
        from torch_cuda import build_info

        print(build_info().version)
        return 0
    from torch_cuda.utils import doctor

    return doctor.main()


if __name__ == "__main__":
    sys.exit(main())
