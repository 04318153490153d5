"""Tests a device library, level by level, and reports what it is good for.

    ./bazelw run //tests/conformance -- --device lib.so                             level `training`
    ./bazelw run //tests/conformance -- --device lib.so --options count=2 --level full --report DIR
    ./bazelw run //tests/conformance:stock -- --device lib.so --torch 2.15.0        on PyPI's torch, unmodified
    ./bazelw run //tests/conformance:minimal -- --device lib.so                     needs no wheels

`:stock` needs no build of PyTorch: it downloads the torch that --torch names, once (540 MB), and installs
torch_cuda_runtime beside it. The first form runs on the source-built torch, and takes --torch, too. Levels, each with the ones before it: minimal, training, distributed, full (subjects.py). With --report the folder
keeps `report.md`, `report.xml` (JUnit's), and what each subject said; a run that was stopped goes on from there, as
long as the library and its options are the same. Without it the report is printed.

Exit status: 0 the level is passed, 1 it is not, 2 it cannot be run, 130 it was stopped.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import importlib.metadata
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence

from tests.conformance import execution, junit, report, subjects
from tests.conformance.device import Device, DeviceError, describe
from tests.conformance.records import Records, RecordsError
from tests.conformance.subjects import Subject
from tools.stock_torch import environments

_TARGET = "//tests/conformance"
_ABI_TARGET = "//device/conformance"
_HERE = pathlib.Path(__file__).parent
# From which what is run imports.
_ROOT = pathlib.Path(__file__).absolute().parents[2]
STOPPED = 130
# What the programs need in an environment with PyPI's torch; torch.testing._internal asks for expecttest.
_PACKAGES = ("absl-py", "expecttest")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a level; returns the exit status."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    # `bazel run` starts programs elsewhere.
    here = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    options = ",".join(each for each in arguments.options if each)
    path = (here / arguments.device).absolute()
    environment = _environment()
    try:
        device = describe(arguments.describe, path, options, environment)
        with tempfile.TemporaryDirectory() as temporary:
            python = sys.executable
            _choose_level(arguments)
            if arguments.torch is not None and arguments.level != subjects.MINIMAL:
                python = _stock(arguments, pathlib.Path(temporary) / "environment")
                environment["PYTHONPATH"] = str(_ROOT)
            chosen, left_out = _subjects(arguments, device, environment, python)
            if arguments.level != subjects.MINIMAL:
                environment |= device.environment
            folder = here / arguments.report if arguments.report else pathlib.Path(temporary)
            with Records(folder.absolute(), _identity(device, arguments)) as records:
                return _run(device, chosen, records, environment, arguments, left_out)
    except (DeviceError, RecordsError, environments.PreparationError) as wrong:
        parser.exit(2, f"{wrong}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="conformance", description="Test a device library of the device ABI."
    )
    parser.add_argument("--device", required=True, metavar="PATH", help="the library")
    parser.add_argument(
        "--options",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="what it is initialized with, such as count=2; several with commas, or given again",
    )
    parser.add_argument("--level", choices=tuple(subjects.LEVELS), help="default: training")
    parser.add_argument("--report", metavar="DIR", help="folder for reports and records")
    parser.add_argument(
        "--only",
        action="append",
        metavar="SUBJECT",
        help="name of a subject, or a pattern of names; may be given again",
    )
    parser.add_argument(
        "--programs",
        type=int,
        default=10000,
        metavar="N",
        help="random programs of the contract tests (default: 10000); torch's are a tenth",
    )
    parser.add_argument(
        "--torch",
        metavar="VERSION",
        help="PyPI's torch, unmodified, such as 2.15.0; or the path of the Python of an environment with one",
    )
    # What the BUILD file gives.
    parser.add_argument(
        "--wheel", type=pathlib.Path, action="append", default=[], help=argparse.SUPPRESS
    )
    for name in ("describe", "abi"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tests", help=argparse.SUPPRESS)
    parser.set_defaults(torch_version=None)  # what --torch turned out to be
    parser.add_argument("--full", default="", help=argparse.SUPPRESS)
    parser.add_argument("--built", default="", help=argparse.SUPPRESS)
    return parser


def _environment() -> dict[str, str]:
    """That of all processes: nothing of Bazel's tests, and no setting that takes devices away."""
    ours = ("GTEST_", "TEST_", "TESTBRIDGE_", "XML_OUTPUT_FILE", "ACCEL_")
    others = ("CUDA_VISIBLE_DEVICES", "TORCH_CUDA_DISABLE", "TORCH_CUDA_SIM", "TORCH_CUDA_DEVICES")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == "TEST_TMPDIR" or not (name.startswith(ours) or name in others)
    }
    own = (_HERE.absolute(), pathlib.Path(__file__).resolve().parent)
    # Whoever runs several processes at once has the cores for them; results do not hang on their number.
    return {
        "OMP_NUM_THREADS": "1",
        **kept,
        "PYTHONPATH": os.pathsep.join(
            # The folder of this program is no place for others to import from.
            each
            for each in sys.path
            if each and pathlib.Path(each).absolute() not in own
        ),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _choose_level(arguments: argparse.Namespace) -> None:
    """Says which level is run where nobody has.

    Raises:
        DeviceError: this target does not have the level.
    """
    on_torch = arguments.tests or (arguments.torch and arguments.wheel)
    if arguments.level is None:
        wanted = on_torch or arguments.torch
        arguments.level = subjects.TRAINING if wanted else subjects.MINIMAL
    if arguments.level != subjects.MINIMAL and not on_torch:
        raise DeviceError(
            f"{_TARGET}:minimal has level minimal only; type ./bazelw run {_TARGET}:stock -- "
            f"--level {arguments.level} for PyPI's torch, or ./bazelw run {_TARGET} -- --level "
            f"{arguments.level} for the source-built one"
        )


def _stock(arguments: argparse.Namespace, folder: pathlib.Path) -> str:
    """Makes an environment with PyPI's torch; returns its Python.

    Raises:
        PreparationError: it cannot be made, or what is in it is not what is meant.
    """
    python = environments.above(
        environments.with_torch(arguments.torch),
        folder,
        [wheel.resolve() for wheel in arguments.wheel],
        _PACKAGES,
    )
    asked = subprocess.run(
        [python, "-I", "-c", "import importlib.metadata as m; print(m.version('torch'))"],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0:
        raise environments.PreparationError(
            f"found no torch in the environment of {arguments.torch}; needed one of PyPI's, such as "
            "--torch 2.15.0"
        )
    arguments.torch_version = asked.stdout.strip()
    return str(python)


def _subjects(
    arguments: argparse.Namespace, device: Device, environment: Mapping[str, str], python: str
) -> tuple[list[Subject], bool]:
    """The subjects of the level, and whether --only left some out.

    Raises:
        DeviceError: --only names nothing.
    """
    program = [str(arguments.abi), f"--library={device.path}", f"--options={device.options}"]
    program.append(f"--programs={arguments.programs}")
    found = list(subjects.contract(program, _suites(arguments.abi, environment)))
    levels = subjects.up_to(arguments.level)
    where = [f"--tests={arguments.tests}", f"--full={arguments.full}", f"--built={arguments.built}"]
    for level in levels[1:]:
        if level == subjects.TRAINING:
            found += subjects.topics(max(1, arguments.programs // 10), python)
        if level == subjects.DISTRIBUTED:
            found += subjects.collectives(python)
        elif arguments.torch is not None:
            found += subjects.installed(level, python)
        else:
            found += subjects.upstream(level, where)
    if not arguments.only:
        return found, False
    kept = [
        each for each in found if any(fnmatch.fnmatch(each.name, only) for only in arguments.only)
    ]
    if not kept:
        names = ", ".join(each.name for each in found)
        raise DeviceError(
            f"level {arguments.level} has no subject {arguments.only[0]}, but {names}"
        )
    return kept, len(kept) < len(found)


def _suites(program: pathlib.Path, environment: Mapping[str, str]) -> list[str]:
    listed = subprocess.run(
        [program, "--gtest_list_tests"],
        env=dict(environment),
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.rstrip(".") for line in listed.stdout.splitlines() if line.endswith(".")]


def _identity(device: Device, arguments: argparse.Namespace) -> dict[str, str]:
    """What outcomes depend on: the library, how it is run, the tests, and torch_cuda's wheels."""
    tests = hashlib.sha256(arguments.abi.read_bytes())
    for file in sorted(_HERE.rglob("*.py")):
        tests.update(file.read_bytes())
    wheels = hashlib.sha256()
    for record in sorted(
        each.read_text("RECORD") or ""
        for each in importlib.metadata.distributions()
        if each.name.startswith("torch_cuda")
    ):
        wheels.update(record.encode())
    for wheel in arguments.wheel if arguments.torch is not None else ():
        wheels.update(wheel.read_bytes())
    return {
        "library": hashlib.sha256(device.path.read_bytes()).hexdigest(),
        "options": device.options,
        "programs": str(arguments.programs),
        "tests": tests.hexdigest(),
        "torch": arguments.torch_version or "",
        "wheels": wheels.hexdigest(),
    }


def _run(
    device: Device,
    chosen: Sequence[Subject],
    records: Records,
    environment: Mapping[str, str],
    arguments: argparse.Namespace,
    left_out: bool,
) -> int:
    """Runs what is not in the records, and writes the report."""
    outcomes: list[report.Outcome] = []
    # Whoever ends this gets the report of what is done.
    stop = threading.Event()
    ends = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, lambda *_: stop.set()) for each in ends]
    try:
        for number, subject in enumerate(chosen, 1):
            if stop.is_set():
                break
            absent = _absent(device, subject)
            kept = cases = None if absent else records.read(subject.title)
            if not absent and cases is None:
                print(f"{number}/{len(chosen)} {subject.title}", flush=True)
                cases = _run_one(subject, records, environment, stop)
                records.write(subject.title, cases)
            repeat = _repeat(device, subject, arguments)
            outcomes.append(report.Outcome(subject, cases, absent, repeat))
            _tell(outcomes[-1], kept is not None)
    except execution.StoppedError:
        pass  # the rest was not run
    finally:
        for each, handler in zip(ends, before, strict=True):
            signal.signal(each, handler)
    outcomes += [report.Outcome(each, None) for each in chosen[len(outcomes) :]]
    stopped = any(each.result == report.NOT_RUN for each in outcomes)
    page = report.markdown(device, outcomes, left_out, arguments.torch_version)
    (records.folder / "report.md").write_text(page, encoding="utf-8")
    report.xml(records.folder / "report.xml", outcomes)
    if not arguments.report:
        print(page)
    for level, line in report.summary(outcomes).items():
        print(f"{level}: {line}")
    if arguments.report:
        print(f"report: {records.folder / 'report.md'}")
    if stopped:
        print("stopped; the same command goes on from here" if arguments.report else "stopped")
        return STOPPED
    return int(any(result != report.PASSED for result in report.results(outcomes).values()))


def _run_one(
    subject: Subject, records: Records, environment: Mapping[str, str], stop: threading.Event
) -> list[junit.Case]:
    xml, own = records.path(subject.title, ".partial.xml"), records.path(subject.title, ".records")
    places = {subjects.JUNIT: str(xml), subjects.RECORDS: str(own)}
    command = []
    for word in subject.command:
        for place, path in places.items():
            word = word.replace(place, path)
        command.append(word)
    try:
        return execution.run(
            command,
            {**environment, **subject.variables},
            xml,
            records.path(subject.title, ".log"),
            subject.seconds,
            lambda line: print(line, flush=True),
            stop.is_set,
        )
    finally:
        xml.unlink(missing_ok=True)


def _absent(device: Device, subject: Subject) -> str:
    """What the device lacks for a subject, or ""."""
    if device.count < subject.devices:
        return (
            f"needs {subject.devices} devices; is there an option such as count={subject.devices}?"
        )
    return ""


def _repeat(device: Device, subject: Subject, arguments: argparse.Namespace) -> str:
    """The command that runs one subject again."""
    if subject.level == subjects.MINIMAL:
        command = [_ABI_TARGET, "--", f"--library={device.path}"]
        command += [f"--options={device.options}"] if device.options else []
        command += [f"--gtest_filter={subject.name}.*"]
    else:
        stock = arguments.torch is not None
        command = [f"{_TARGET}:stock" if stock else _TARGET, "--", "--device", str(device.path)]
        command += ["--torch", arguments.torch] if stock else []
        command += ["--options", device.options] if device.options else []
        command += ["--level", subject.level, "--only", subject.name]
        if arguments.programs != 10000:
            command += ["--programs", str(arguments.programs)]
    return shlex.join(["./bazelw", "run", *command])


def _tell(outcome: report.Outcome, kept: bool) -> None:
    line = f"  {outcome.subject.title}: {outcome.result}"
    if outcome.absent:
        line += f", {outcome.absent}"
    elif outcome.cases:
        counts = (
            f"{outcome.count(name)} {name}" for name in (junit.PASSED, junit.FAILED, junit.SKIPPED)
        )
        line += f" ({', '.join(counts)}, {outcome.seconds:.1f} s{', kept' if kept else ''})"
    print(line, flush=True)
    for case in outcome.failures[:5]:
        print(f"    {case.title}: {case.message.partition(chr(10))[0][:200]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
