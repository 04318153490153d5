"""Runs the tests that a framework has of its own on a device, and holds what becomes of them against a list.

    ./bazelw run //tests/strangers:run -- numba-cuda
    … -- cuda-core --source=FOLDER          a clone, where PyPI has no tests; without it the command says of what
    … -- numba-cuda --only='cudapy/*'       some files
    … -- triton --share=10 --source=FOLDER  of a hundred tests ten, the same each time
    … -- numba-cuda --again                 from the start; without it a run goes on where the last one ended

Fetches the packages into your cache folder, once. The outcomes lie there, too, with a report for CI services. The
device is the simulated GPU; TORCH_CUDA_DEVICES names another. The exit status is 1 if a test fails that
known/SUITE.txt does not list, or passes although it does.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

from tests.strangers import results, suites
from tools.stock_torch import environments

# pytest's exit statuses where it has nothing to say itself: all passed, some failed, there were none.
_TOLD = (0, 1, 5)
# The plugin's, where a test has left the device at fault (plugin/journal.py).
_AT_FAULT = 70
_TAIL = 1500


def cache_folder(suite: suites.Suite) -> pathlib.Path:
    """Where a suite's packages and outcomes are kept.

    Args:
        suite: the suite.
    """
    return environments.cache_folder("none").with_name("strangers") / suite.name


def prepare(suite: suites.Suite, wheels: Sequence[pathlib.Path]) -> pathlib.Path:
    """Makes the environment, or what is missing of it.

    Args:
        suite: whose packages are installed.
        wheels: of this tree, beside them.

    Returns:
        Its Python.

    Raises:
        PreparationError: it cannot be made.
    """
    # In one: some of them start with the interpreter, by files that it reads in its own folder only.
    return environments.kept(
        environments.with_torch(suite.torch) if suite.torch else pathlib.Path(sys.executable),
        cache_folder(suite) / sys.implementation.cache_tag,
        wheels,
        suite.packages,
    )


def base_folder(suite: suites.Suite, python: pathlib.Path, source: str | None) -> pathlib.Path:
    """The folder that a suite's own folders lie in: a clone, or the packages.

    Args:
        suite: the suite.
        python: of its environment.
        source: the clone that the user names.

    Raises:
        ValueError: they are not there.
    """
    if suite.repository and source is None:
        raise ValueError(
            f"{suite.name}: PyPI has no package with these tests; needed is a clone of {suite.repository} at version "
            f"{suite.version}: ./bazelw run //tests/strangers:run -- {suite.name} --source=FOLDER"
        )
    if source is not None:
        base = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), source).resolve()
    else:
        base = environments.site_packages(python)
    if not (base / suite.folder).is_dir():
        raise ValueError(
            f"{suite.name}: found no folder {base / suite.folder}; needed are the tests of {suite.version}"
        )
    return base


def files(suite: suites.Suite, folder: pathlib.Path, only: str) -> list[pathlib.Path]:
    """The files with tests, in order.

    Args:
        suite: the suite.
        folder: of the tests.
        only: a pattern of their names below the folder.
    """
    found = {path for pattern in suite.files for path in folder.rglob(pattern)}
    return sorted(
        path for path in found if fnmatch.fnmatchcase(path.relative_to(folder).as_posix(), only)
    )


def variables(suite: suites.Suite) -> dict[str, str]:
    """The variables for a suite's processes: those of this one, the suite's, and the one that asks for a device.

    Args:
        suite: the suite.
    """
    given = environments.clean(dict(os.environ)) | dict(suite.environment)
    given.setdefault("TORCH_CUDA_DEVICES", suites.DEVICES)
    return given


class Run:
    """A run of a suite, which goes on from what is written down.

    Args:
        suite: the suite.
        python: of its environment.
        base: what its folders lie in.
        record: folder for outcomes.
        seconds: how long a test may take.
        environment: variables of the tests.
        share: of the tests, in percent.
    """

    def __init__(
        self,
        suite: suites.Suite,
        python: pathlib.Path,
        base: pathlib.Path,
        record: pathlib.Path,
        seconds: int,
        environment: Mapping[str, str],
        share: int = 100,
    ) -> None:
        self._suite = suite
        self._python = python
        self._base = base
        self._folder = base / suite.folder
        self._root = base / (suite.root or suite.folder)
        self.journal = record / "journal.jsonl"
        self._done = record / ("done.txt" if share == 100 else f"done-{share}.txt")
        self._share = share
        self._seconds = seconds
        self._environment = environment

    def files(self, paths: Sequence[pathlib.Path]) -> None:
        """Runs the tests of files in one process, and those behind the end of that process in another.

        Args:
            paths: of the files.
        """
        done = self._done.read_text(encoding="utf-8").splitlines() if self._done.exists() else []
        left = [path for path in paths if self.name(path) not in done]
        while left:
            status, tail = self._pytest(left)
            if status == _AT_FAULT:
                continue
            at = results.interrupted(self.journal)
            if at is None and status not in _TOLD:
                if len(left) > 1:
                    # One of the files ends the process before its tests begin.
                    for path in left:
                        self.files([path])
                    return
                at = self.name(left[0])
                left = []
            if at is not None:
                message = f"the process ended with status {status}\n{tail}"
                results.write_end(self.journal, at, message)
            else:
                left = []
        with self._done.open("a", encoding="utf-8") as file:
            file.writelines(f"{self.name(path)}\n" for path in paths)

    def name(self, path: pathlib.Path) -> str:
        """A file's name as the names of its tests have it."""
        return path.relative_to(self._root).as_posix()

    def _pytest(self, paths: Sequence[pathlib.Path]) -> tuple[int, str]:
        """Runs the tests of files that are not written down.

        Args:
            paths: of the files.

        Returns:
            The exit status, and the output's end, or where a test waited for too long.
        """
        command = [
            *(str(self._python), "-m", "pytest", "-q", "-p", "journal", "-p", "no:cacheprovider"),
            "--continue-on-collection-errors",
            *(f"--rootdir={self._root}", *self._suite.arguments, *map(str, paths)),
        ]
        environment = {
            **self._environment,
            results.JOURNAL: str(self.journal),
            results.SECONDS: str(self._seconds),
            results.SHARE: str(self._share),
            # Beside the plugin lies nothing that a suite could import by mistake.
            "PYTHONPATH": os.pathsep.join(
                [
                    str(suites.HERE / "plugin"),
                    *(str(self._base / path) for path in self._suite.paths),
                ]
            ),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        log = self.journal.with_suffix(".log")
        with log.open("ab") as output:
            begin = output.tell()
            status = subprocess.run(
                command,
                env=environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        said = log.read_bytes()[begin:].decode(errors="replace")
        too_long = said.rfind("Timeout (")
        return status, said[too_long:][:_TAIL] if too_long >= 0 else said[-_TAIL:]


def report(suite: suites.Suite, outcomes: Mapping[str, results.Outcome], whole: bool) -> int:
    """Says how a run compares with the list; returns the exit status.

    Args:
        suite: the suite.
        outcomes: of its tests.
        whole: whether all of its files ran.
    """
    text = suite.known.read_text(encoding="utf-8") if suite.known.exists() else ""
    known = results.read_known(text)
    comparison = results.compare(outcomes, known)
    for test in comparison.new:
        last = outcomes[test].message.strip().splitlines()[-1:] or [""]
        print(f"new failure: {test}\n    {last[0][:200]}")
    for pattern in comparison.passing:
        print(f"passes now, take it out of {suite.known.name}: {pattern}")
    if whole:
        for entry in known:
            if not any(entry.names(test) for test in outcomes):
                print(f"names no test: {entry.pattern}")
    counts = comparison.counts
    print(
        f"{suite.name} {suite.version}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} "
        f"skipped; {comparison.share:.1f} % of those not skipped pass"
    )
    return int(bool(comparison.new or comparison.passing))


def main(command_line: Sequence[str]) -> int:
    """Runs a suite; returns the exit status.

    Args:
        command_line: the wheels and the user's arguments.
    """
    every = suites.every()
    parser = argparse.ArgumentParser(prog="strangers", description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=sorted(every))
    parser.add_argument("--source", help="a clone of the suite's repository")
    parser.add_argument("--only", default="*", help="a pattern of the files' names")
    parser.add_argument(
        "--share", type=int, default=100, metavar="PERCENT", help="of the tests (default: 100)"
    )
    parser.add_argument("--again", action="store_true", help="forget the outcomes of earlier runs")
    parser.add_argument("--batch", type=int, default=8, help="files in one process (default: 8)")
    parser.add_argument("--seconds", type=int, default=600, help="for one test (default: 600)")
    given = [argument for argument in command_line if not argument.endswith(".whl")]
    options = parser.parse_args(given)
    suite = every[options.suite]
    wheels = [pathlib.Path(one).resolve() for one in command_line if one.endswith(".whl")]
    try:
        python = prepare(suite, wheels)
        base = base_folder(suite, python, options.source)
        environment = variables(suite)
    except (environments.PreparationError, ValueError) as error:
        print(f"strangers: {error}", file=sys.stderr)
        return 2
    # Outcomes are of these wheels and this device.
    content = hashlib.sha256(environment["TORCH_CUDA_DEVICES"].encode())
    for wheel in wheels:
        content.update(wheel.read_bytes())
    record = cache_folder(suite) / "outcomes" / content.hexdigest()[:12]
    if options.again:
        shutil.rmtree(record, ignore_errors=True)
    record.mkdir(parents=True, exist_ok=True)
    run = Run(suite, python, base, record, options.seconds, environment, options.share)
    folder = base / suite.folder
    chosen = files(suite, folder, options.only)
    if not chosen:
        print(f"strangers: {folder} has no file {options.only}", file=sys.stderr)
        return 2
    for at in range(0, len(chosen), options.batch):
        part = chosen[at : at + options.batch]
        run.files(part)
        outcomes = results.of_files(results.read_journal(run.journal), map(run.name, chosen))
        counts = results.compare(outcomes, ()).counts
        print(f"{at + len(part)}/{len(chosen)} {run.name(part[-1])}: {dict(counts)}", flush=True)
    text = suite.known.read_text(encoding="utf-8") if suite.known.exists() else ""
    file = record / "junit.xml"
    file.write_text(results.junit(suite.name, outcomes, results.read_known(text)), encoding="utf-8")
    print(f"report: {file}")
    return report(suite, outcomes, options.only == "*" and options.share == 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
