"""Runs programs that others wrote parts of, on the CPU and on the CUDA device, and compares.

    ./bazelw run --//config:ops=models //tests/programs:run     all, and writes docs/results/programs.md
    … //tests/programs:run -- vision 'language.b*'              a folder, a pattern
    … //tests/programs:run -- --record FOLDER                   all; keeps the records, and goes on from them
    … //tests/programs:run -- --operators                       writes tests/programs/operators.txt

What fails is listed with its reason in known.toml, or in the list that --known names. A failure that is not listed, and a program that passes though it
is listed, end in exit status 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from tests.programs import page, results

HERE = pathlib.Path(__file__).resolve().parent
_OPERATORS = "tests/programs/operators.txt"
# What packages fetch is not to be waited for, and what they count is not to be sent.
_ENVIRONMENT = {
    "ACCELERATE_DISABLE_RICH": "1",
    "CUDASIM_MEMORY": "4G",
    "DIFFUSERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def names() -> list[str]:
    """The programs, as FOLDER.FILE, sorted."""
    return sorted(f"{path.parent.name}.{path.stem}" for path in (HERE / "catalogue").glob("*/*.py"))


def chosen(patterns: Sequence[str]) -> list[str]:
    """The programs that patterns name.

    Args:
        patterns: folders, names, or patterns of names as in a shell; none: all programs.

    Raises:
        ValueError: a pattern names none.
    """
    found = set()
    for pattern in patterns or ["*"]:
        matching = [
            name
            for name in names()
            if fnmatch.fnmatchcase(name, pattern) or name.startswith(f"{pattern}.")
        ]
        if not matching:
            raise ValueError(f"{pattern} names no program; there are: {', '.join(names())}")
        found.update(matching)
    return sorted(found)


def kind(profile: str, device: str, operators: bool) -> str:
    """The folder for records of one kind: one cannot go on from those of another.

    Args:
        profile: of the build.
        device: where programs run.
        operators: whether they are asked for what they call, and compared with nothing.
    """
    parts = (profile, device, "operators" if operators else "compared")
    return "-".join(re.sub(r"\W+", "_", part) for part in parts)


def run(name: str, record: pathlib.Path, seconds: int, arguments: Sequence[str]) -> results.Outcome:
    """Runs a program in a process of its own, unless there is a record of it.

    Args:
        name: of the program.
        record: where its outcome is written; what it prints lies beside it.
        seconds: how long it may take.
        arguments: more of program.py's.
    """
    if not record.is_file():
        command = [sys.executable, "-m", "tests.programs.program", name, f"--record={record}"]
        path = [str(HERE.parent.parent), *sys.path]
        environment = {
            **os.environ,
            **_ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join(path),
            # Not beside the packages, which are Bazel's.
            "PYTHONPYCACHEPREFIX": str(record.parent / "compiled"),
            "TORCH_EXTENSIONS_DIR": str(record.parent / "extensions"),
        }
        start = time.monotonic()
        with record.with_suffix(".log").open("wb") as log:
            try:
                status = subprocess.run(
                    [*command, *arguments],
                    env=environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=seconds,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                return results.Outcome((f"took longer than {seconds} seconds",))
        if not record.is_file():
            reason = f"the process ended with status {status}, see {record.with_suffix('.log')}"
            return results.Outcome((reason,), seconds=time.monotonic() - start)
    return results.read(record.read_text(encoding="utf-8"))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the chosen programs; returns the exit status."""
    parser = argparse.ArgumentParser(description="Run programs on the CPU and on the CUDA device.")
    parser.add_argument(
        "--built", type=pathlib.Path, required=True, help="registrations.json of this build"
    )
    parser.add_argument("--profile", required=True, help="the op profile of this build")
    parser.add_argument("names", nargs="*", help="folders, names, patterns; default: all")
    parser.add_argument("--record", type=pathlib.Path, help="folder to keep records in")
    parser.add_argument("--seconds", type=int, default=900, help="for one program (default: 900)")
    parser.add_argument(
        "--operators",
        action="store_true",
        help=f"compare nothing, and write which operators are called to {_OPERATORS}",
    )
    parser.add_argument("--device", default="", help="default: cuda:0; with --operators the CPU")
    parser.add_argument(
        "--known", default="known.toml", help="the list of what fails (default: known.toml)"
    )
    parser.add_argument(
        "--page",
        choices=page.HEADS,
        default=next(iter(page.HEADS)),
        help="the page that a run of all programs writes (default: %(default)s)",
    )
    parser.add_argument(
        "--table", type=pathlib.Path, help="file for a table of what became of the programs"
    )
    options = parser.parse_args(argv)
    try:
        programs = chosen(options.names)
    except ValueError as error:
        parser.error(str(error))
    built = json.loads(options.built.read_text(encoding="utf-8")).get("CUDA", ())
    listed = (HERE / options.known).read_text(encoding="utf-8")
    known = results.read_known(listed, built)
    device = options.device or ("cpu" if options.operators else "cuda:0")
    arguments = [f"--device={device}", *(["--operators"] if options.operators else [])]
    # `bazel run` starts programs elsewhere.
    here = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    outcomes = {}
    surprises = {}
    with tempfile.TemporaryDirectory() as temporary:
        kept = (here / options.record).resolve() if options.record else pathlib.Path(temporary)
        folder = kept / kind(options.profile, device, options.operators)
        folder.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(programs, 1):
            outcome = run(name, folder / f"{name}.json", options.seconds, arguments)
            # On the CPU all of them run.
            entry = None if options.operators else known.get(name)
            surprises[name] = results.surprise(outcome, entry)
            outcomes[name] = outcome
            said = surprises[name] or ("fails as listed" if outcome.reasons else "passes")
            print(f"{number}/{len(programs)} {name}: {outcome.seconds:.0f} s, {said}", flush=True)
    for name in sorted(results.read_known(listed).keys() - names()):
        surprises[name] = f"is listed in {options.known}, and is no program"
        print(f"{name} {surprises[name]}")
    if options.table:
        text = page.table(outcomes, known, HERE / "catalogue")
        (here / options.table).write_text(text, encoding="utf-8")
    return finish(options, programs, outcomes, known, any(surprises.values()))


def finish(
    options: argparse.Namespace,
    programs: Sequence[str],
    outcomes: Mapping[str, results.Outcome],
    known: Mapping[str, results.Known],
    surprised: bool,
) -> int:
    """Writes the page or the operators after a run of all programs; returns the exit status."""
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    # Both files say where programs ran, and so take no other device.
    whole = list(programs) == names() and not options.device
    if workspace and whole and not surprised:
        if options.operators:
            file, text = _OPERATORS, results.calls(outcomes)
        else:
            file = options.page
            text = page.render(outcomes, known, HERE / "catalogue", options.profile, file)
        pathlib.Path(workspace, file).write_text(text, encoding="utf-8")
        print(f"wrote {file}")
    failed = sum(bool(outcome.reasons) for outcome in outcomes.values())
    print(f"{len(outcomes) - failed} programs pass, {failed} fail")
    return int(surprised)


if __name__ == "__main__":
    sys.exit(main())
