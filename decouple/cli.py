"""The command line: `decouple COMMAND …`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence

from decouple.errors import DecoupleError

COMMANDS = ("scan", "plan", "verify", "materialize", "report", "diff", "patches")
"""Each is a module of decouple.commands with HELP, add_arguments and run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status: 2 where the input cannot be used."""
    chosen = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="decouple",
        description="Finds, classifies and restructures the device code of a PyTorch tree.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # Only the module of the chosen command is loaded, all of them for the list of commands.
    wanted = [name for name in COMMANDS if chosen[:1] == [name]] or COMMANDS
    for name in wanted:
        module_name = f"decouple.commands.{name}"
        if importlib.util.find_spec(module_name) is None:
            continue
        module = importlib.import_module(module_name)
        help_text = getattr(module, "HELP", None) or (module.__doc__ or "").partition("\n")[0]
        command = commands.add_parser(name, help=help_text, description=help_text)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    options = parser.parse_args(chosen)
    try:
        return int(options.run(options))
    except DecoupleError as error:
        print(f"decouple: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        sys.stderr.close()
        return 0
