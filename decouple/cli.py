"""The command line: `decouple COMMAND …`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from decouple.errors import DecoupleError

COMMANDS = ("scan", "plan", "verify", "materialize", "report", "diff", "patches")
"""Each is a module of decouple.commands with HELP, add_arguments and run."""

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of this tool are."""

    def error(self, message: str) -> NoReturn:
        """Ends the program with status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status: 2 where the input cannot be used."""
    chosen = list(sys.argv[1:] if arguments is None else arguments)
    parser = _Parser(
        prog="decouple",
        description="Finds, classifies and restructures the device code of a PyTorch tree.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # Only the module of the chosen command is loaded, all of them for the list of commands.
    wanted = [name for name in COMMANDS if chosen[:1] == [name]] or COMMANDS
    for name in wanted:
        module_name = f"decouple.commands.{name}"
        module = importlib.import_module(module_name)
        command = commands.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    options = parser.parse_args(chosen)
    try:
        return int(options.run(options))
    except DecoupleError as error:
        print(f"decouple: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("decouple: interrupted; nothing is written.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        sys.stderr.close()
        return 0
