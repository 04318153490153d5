"""`decouple patches`: applies, reverses and checks the patches of a series."""

from __future__ import annotations

import argparse
import pathlib

from decouple.commands import options
from decouple.errors import DecoupleError
from decouple.patches import series
from decouple.patches.series import State

HELP = "apply, reverse or check the patches of a series"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("action", choices=("apply", "reverse", "status"))
    parser.add_argument("tree", type=pathlib.Path, help="the source tree")
    parser.add_argument(
        "--series",
        type=pathlib.Path,
        default=pathlib.Path("patches/series"),
        help="file that names the patches, one a line (default: patches/series)",
    )


def run(args: argparse.Namespace) -> int:
    """Runs the command.

    Returns:
        0; for `status` 1 where a patch does not apply.

    Raises:
        DecoupleError: the series cannot be read, or a patch does not apply.
    """
    root = options.working_path(args.tree)
    if not root.is_dir():
        raise DecoupleError(f"{root} is not a folder; name the source tree.")
    patches = series.read_series(options.working_path(args.series))
    if args.action == "status":
        return _status(series.standings(root, patches))
    names, files = (series.apply if args.action == "apply" else series.reverse)(root, patches)
    done = "applied" if args.action == "apply" else "reversed"
    print(f"{done} {len(names)} of {len(patches)} patches, {len(files)} files changed")
    for name in names:
        print(f"  {name}")
    return 0


def _status(standings: list[series.Standing]) -> int:
    for standing in standings:
        print(f"{standing.state:15} {standing.patch.name}: {standing.patch.subject}")
        if standing.problem:
            print(f"{'':15} {standing.patch.name}: {standing.problem}")
    if not standings:
        print("the series is empty")
    return 1 if any(standing.state is State.BROKEN for standing in standings) else 0
