"""Says what a release of PyTorch from PyPI breaks here, before it is supported.

    ./bazelw run //runtime/releases:check -- 2.14.1 [--symbols]

Compiles the router's sources against the release's headers, and looks at its operators and libraries. Some
20 MB are received. --symbols also looks at the names in its libraries, for which all of libtorch_cuda.so and
libtorch_cpu.so is received (some 480 MB): their string tables stand at their ends, and the wheel is compressed.

The exit status is 0 where nothing breaks, 1 where something does, 2 where the check could not be done.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch_cuda_runtime import _diagnostics

from runtime.releases import symbols
from runtime.releases.wheel import Release
from tools.remote_wheel import fetch, index, members
from tools.remote_wheel.ranged_file import RangesError

_PLATFORMS = fetch.PLATFORMS + tuple(f"manylinux_2_{minor}_x86_64" for minor in (25, 24, 12, 5))
_FOLDERS = ("router/aliasing", "router/composites", "router/operators")
_CUDA12 = ("nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cuda-nvcc-cu12==12.8.93")
_CUDA13 = ("nvidia-cuda-runtime", "nvidia-cuda-crt")
# What the router's libraries are linked with.
_ROUTERS = tuple(
    f"torch/lib/lib{name}.so" for name in ("c10", "c10_cuda", "torch_cpu", "torch_cuda")
)


@dataclasses.dataclass
class Report:
    """Prints findings, and remembers whether anything breaks."""

    breaks: bool = False

    def say(
        self, topic: str, text: str, *, names: Sequence[str] = (), breaks: bool = False
    ) -> None:
        """Prints a finding.

        Args:
            topic: what it is about, a word or two.
            text: the finding.
            names: what it is about one by one, a line each.
            breaks: whether it stands in the way of this release.
        """
        self.breaks = self.breaks or breaks
        print(f"{topic + ':':<12} {'BREAKS: ' if breaks else ''}{text}", flush=True)
        for name in names:
            print(f"{'':<15}{name}")


def supported(root: pathlib.Path) -> dict[str, Any]:
    """The versions that there are routers for, by the minor version.

    Args:
        root: of the repository.
    """
    return dict(_starlark(root / "third_party/stock_torch/versions.bzl")["STOCK_TORCH"])


def nearest(version: str, minors: Sequence[str]) -> str:
    """The supported minor version that is closest to a version, the newer of two."""
    wanted = _number(version)
    return min(minors, key=lambda minor: (abs(_number(minor) - wanted), -_number(minor)))


def check(
    version: str,
    root: pathlib.Path,
    python: str,
    libraries: Sequence[tuple[str, str, str]] | None,
) -> bool:
    """Checks a release and prints what was found.

    Args:
        version: such as "2.14.1".
        root: of the repository.
        python: version of the Python whose wheel is looked at.
        libraries: for `symbols.own_functions`, where symbols are to be looked at.

    Returns:
        Whether nothing breaks.

    Raises:
        RangesError, index.NotFoundError, members.WheelError: the release cannot be had.
    """
    report = Report()
    pins = supported(root)
    base = nearest(version, list(pins))
    with (
        _opened(f"torch=={version}", python) as release,
        _opened(f"torch=={pins[base].version}", python) as known,
        tempfile.TemporaryDirectory() as folder,
    ):
        major = int((release.constant("cuda") or "0").partition(".")[0])
        report.say(
            "torch",
            f"{release.constant('__version__')}, CUDA {release.constant('cuda')}, {release.standard()}; "
            f"compared with {pins[base].version}. RECORD: {release.record_sha256}",
        )
        if major not in (12, 13):
            report.say("CUDA", f"no libraries for CUDA {major}", breaks=True)
            return False
        _compare_headers(report, release, known)
        _compare_operators(report, release, known)
        work = pathlib.Path(folder)
        objects = _compile(report, release, root, work, major, emit=libraries is not None)
        if libraries is not None:
            _compare_symbols(report, release, objects, work, libraries)
    print("Something breaks." if report.breaks else "Nothing breaks.")
    return not report.breaks


def _compare_headers(report: Report, release: Release, known: Release) -> None:
    ours, theirs = known.headers(), release.headers()
    core = [
        name
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
        and name.startswith(("torch/include/c10/", "torch/include/ATen/core/"))
    ]
    every = sum(ours.get(name) != theirs.get(name) for name in ours.keys() | theirs.keys())
    same = (
        "the same ABI, as far as headers say"
        if every == 0
        else "an ABI of its own is to be expected"
    )
    report.say(
        "headers", f"{every} of {len(theirs)} differ, {len(core)} of c10 and ATen/core; {same}"
    )


def _compare_operators(report: Report, release: Release, known: Release) -> None:
    old, new = known.operators(), release.operators()
    alone = [name for name in sorted(new) if new[name].cuda_alone]
    fresh = [name for name in alone if name not in old or not old[name].cuda_alone]
    report.say(
        "operators",
        f"{len(new)}, {len(new.keys() - old.keys())} new and {len(old.keys() - new.keys())} gone; "
        f"{len(alone)} have a kernel of CUDA's and none of the CPU's, {len(fresh)} of them new"
        + (" (refused by name until they are served):" if fresh else ""),
        names=fresh,
    )


def _compile(
    report: Report,
    release: Release,
    root: pathlib.Path,
    work: pathlib.Path,
    major: int,
    *,
    emit: bool,
) -> list[pathlib.Path]:
    """Compiles the router; returns the objects, where they are wanted."""
    headers = work / "include"
    release.unpack_headers(headers)
    cuda = work / "cuda"
    for requirement in _cuda_packages(root, major):
        with _archive(requirement, "3.13") as archive:
            for name in archive.namelist():
                if "/include/" in name and not name.endswith("/"):
                    target = cuda / name.partition("/include/")[2]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))
    sources = sorted(
        str(file.relative_to(root)) for one in _FOLDERS for file in (root / one).rglob("*.cpp")
    )
    jobs = os.cpu_count() or 1
    units = []
    for number in range(jobs):
        unit = work / f"unit_{number}.cpp"
        part = sources[len(sources) * number // jobs : len(sources) * (number + 1) // jobs]
        unit.write_text("".join(f'#include "{source}"\n' for source in part))
        units.append(unit)
    command = [
        os.environ.get("CXX", "g++"),
        f"-std={release.standard()}",
        "-O0",
        "-fPIC",
        "-w",
        "-fmax-errors=0",
        "-DAT_PER_OPERATOR_HEADERS",
        "-DUSE_CUDA",
        f"-I{root}",
        f"-isystem{headers}",
        f"-isystem{headers}/torch/csrc/api/include",
        f"-isystem{cuda}",
    ]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(lambda unit: _compile_one(command, unit, emit=emit), units))
    wrong: dict[str, _diagnostics.CompileError] = {}
    for _, said in done:
        for file, error in _diagnostics.by_source(said).items():
            wrong.setdefault(file, error)
    failed = [said for status, said in done if status != 0]
    if failed and not wrong:
        report.say("compiles", failed[0].strip().splitlines()[-1], breaks=True)
    elif wrong:
        report.say(
            "compiles",
            f"{len(wrong)} of {len(sources)} files of the router do not compile:",
            names=[
                f"{file}: {error.text} ({error.place})" for file, error in sorted(wrong.items())
            ],
            breaks=True,
        )
    else:
        report.say("compiles", f"all {len(sources)} files of the router")
    return [unit.with_suffix(".o") for unit in units] if emit and not failed else []


def _compile_one(command: Sequence[str], unit: pathlib.Path, *, emit: bool) -> tuple[int, str]:
    result = ["-c", "-o", str(unit.with_suffix(".o"))] if emit else ["-fsyntax-only"]
    done = subprocess.run(
        [*command, str(unit), *result],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stderr


def _compare_symbols(
    report: Report,
    release: Release,
    objects: Sequence[pathlib.Path],
    work: pathlib.Path,
    libraries: Sequence[tuple[str, str, str]],
) -> None:
    """Holds the names in the release's libraries against ours, one library on the disk at a time."""
    wanted: set[tuple[str, str]] = set()
    defined: set[str] = set()
    for name in release.libraries():
        if "cuda" not in name and "torch_python" not in name and name not in _ROUTERS:
            continue
        library = release.unpack_library(name, work)
        wanted |= set(symbols.needed(library))
        if name in _ROUTERS:
            defined |= symbols.defined([library])
        library.unlink()
    of_cuda = symbols.of_cuda(wanted)
    own = symbols.own_functions(libraries)
    absent, unsupported = symbols.lacking(of_cuda, own)
    count = sum(len(names) for names in of_cuda.values())
    if not absent:
        report.say("functions", f"{count} of CUDA's libraries are needed; ours export all")
    for soname, names in absent.items():
        report.say(
            "functions",
            f"{soname} needs {len(names)} more of {len(of_cuda[soname])}:"
            if soname in own
            else f"{soname} is not there, of which {len(names)} functions are needed:",
            names=names,
            breaks=True,
        )
    for soname, names in unsupported.items():
        report.say(
            "functions",
            f'{soname} answers "not supported" to {len(names)} of {len(of_cuda[soname])}',
        )
    if objects:
        missing = symbols.demangled(symbols.of_torch(objects) - defined)
        report.say(
            "symbols",
            f"{len(missing)} that the router needs are not in torch's libraries:"
            if missing
            else "torch's libraries have all that the router needs",
            names=missing,
            breaks=bool(missing),
        )


@contextmanager
def _opened(requirement: str, python: str) -> Iterator[Release]:
    with _archive(requirement, python) as archive:
        yield Release(archive)


@contextmanager
def _archive(requirement: str, python: str) -> Iterator[Any]:
    with fetch.remote(index.Wanted(requirement, python, _PLATFORMS)) as (_, archive):
        yield archive


def _cuda_packages(root: pathlib.Path, major: int) -> list[str]:
    """What has CUDA's headers."""
    if major == 12:
        return list(_CUDA12)
    pinned = _starlark(root / "third_party/cuda13/packages.bzl")["PACKAGES"]
    return [one for one in pinned if one.partition("==")[0] in _CUDA13]


def _starlark(file: pathlib.Path) -> dict[str, Any]:
    """The constants of a file of Starlark that loads nothing, which is Python, too."""
    found: dict[str, Any] = {"struct": types.SimpleNamespace}
    exec(compile(file.read_text(), str(file), "exec"), found)  # noqa: S102
    return found


def _number(version: str) -> int:
    major, minor = version.split(".")[:2]
    return int(major) * 1000 + int(minor)


def main(command_line: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="check", description=__doc__.splitlines()[0])
    parser.add_argument("version", help="of torch on the package index, such as 2.14.1")
    parser.add_argument("--symbols", action="store_true", help="receive its libraries, some 480 MB")
    parser.add_argument(
        "--python-version", default="3.13", help="of the Python whose wheel is read"
    )
    parser.add_argument("--library", nargs=3, action="append", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args(command_line)
    if options.symbols and not options.library:
        parser.error("--symbols needs what the build knows: ./bazelw run //runtime/releases:check")
    root = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or pathlib.Path.cwd())
    libraries = [(soname, script, stubs) for soname, script, stubs in options.library]
    try:
        well = check(
            options.version, root, options.python_version, libraries if options.symbols else None
        )
    except (RangesError, index.PipError, index.NotFoundError, members.WheelError) as error:
        print(f"torch=={options.version}: {error}", file=sys.stderr)
        return 2
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
