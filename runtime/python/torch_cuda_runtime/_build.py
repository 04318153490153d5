"""python -m torch_cuda_runtime build-operators: compiles the router for a torch that the wheel has none for.

What is compiled stays where an interrupted run leaves it, and the next run goes on from there.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence

from torch_cuda_runtime import _built, _choice, _diagnostics, _libraries, _toolchain, _torch
from torch_cuda_runtime._errors import DeviceError, Unusable

_UNITS = "router/operators/stock_units"
_OPTIMIZE = "-O1"
_OTHER_DEVICES = ("TORCH_CUDA_SIM", "CUDA_VISIBLE_DEVICES")
_TORCHS = ("c10", "c10_cuda", "torch_cpu", "torch_cuda")

# What a program of the user's would see; CPU and CUDA have to agree.
_TRIAL = """
import torch
a = torch.linspace(-2, 2, 12).reshape(3, 4)
b = torch.linspace(1, 3, 20).reshape(4, 5)
def results(device):
    x, y = a.to(device).requires_grad_(), b.to(device).requires_grad_()
    z = torch.nn.functional.gelu(x @ y).softmax(-1).sort(-1).values.cumsum(0)
    (z * z).sum().backward()
    strided = torch.nn.functional.conv1d(x.t()[None], y.reshape(5, 4, 1)[:, :, [0]])
    return [z, x.grad, y.grad, strided, x[:, 1::2].sum(), (x > 0).nonzero(), x.to(torch.bfloat16).mean(0)]
for mine, cpus in zip(results("cuda"), results("cpu"), strict=True):
    torch.testing.assert_close(mine.cpu(), cpus)
"""


class BuildError(DeviceError):
    """The router does not compile; the text says where."""


def main(arguments: Sequence[str]) -> int:
    """Compiles what the torch of this Python lacks.

    Args:
        arguments: of the command line.

    Returns:
        The exit status: 0 where this torch has a router now, 1 where it has none, 130 where the user
        interrupted.
    """
    parser = argparse.ArgumentParser(
        prog="python -m torch_cuda_runtime build-operators",
        description="Compiles the operators for the torch of this Python, where the wheel has none for it.",
    )
    parser.add_argument("--again", action="store_true", help="also where there are some already")
    parser.add_argument("--jobs", type=int, help="compilers at the same time, each with 1 to 2 GB")
    options = parser.parse_args(arguments)
    try:
        router = build(again=options.again, jobs=options.jobs or os.cpu_count() or 1)
    except KeyboardInterrupt:
        print(
            "\nInterrupted. The same command goes on with what is not compiled yet.",
            file=sys.stderr,
        )
        return 130
    except (DeviceError, OSError) as error:
        print(f"torch_cuda_runtime: {error}", file=sys.stderr)
        return 1
    _tell(f"This torch has operators now: {router}")
    return 0


def build(*, again: bool, jobs: int) -> pathlib.Path:
    """Compiles the router for the torch of this Python.

    Args:
        again: whether to compile where there is one.
        jobs: how many compilers run at the same time.

    Returns:
        The router.

    Raises:
        Unusable: something that is needed is not there.
        BuildError: it does not compile, or does not compute what the CPU does.
    """
    torch = _torch.find()
    if torch is None:
        raise Unusable(
            found="no torch in this Python",
            needed="one with CUDA",
            fix="python -m pip install torch",
        )
    if torch.cuda is None:
        raise _choice.without_cuda(torch)
    major = _choice.cuda_major(torch)
    there = _choice.router(torch, major)
    if there is not None and not again:
        return there
    target = _built.path(torch)
    if target is None:
        raise Unusable(
            found=f"no {_built.sources()}",
            needed="an undamaged wheel",
            fix="python -m pip install --force-reinstall --no-deps torch_cuda_runtime",
        )
    toolchain = _toolchain.find(torch)
    _tell(f"torch {torch.version}, CUDA {torch.cuda}; {toolchain.version}, {toolchain.standard}")
    folder = target.parent.with_name(target.parent.name + ".work")
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        if target.is_file() and not again:
            return target  # another process was quicker
        sources = _unpack(folder / "sources")
        objects = _compile(_commands(toolchain, sources), folder, torch, jobs)
        # Tried where no other process looks, then put in place at once.
        tried = folder / "tried" / target.relative_to(_built.cache())
        _link(toolchain, objects, tried, torch, major)
        _try(folder / "tried", torch)
        target.parent.mkdir(parents=True, exist_ok=True)
        tried.replace(target)
        shutil.rmtree(folder)
    return target


@contextlib.contextmanager
def _locked(folder: pathlib.Path) -> Iterator[None]:
    """One process at a time; another waits."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _tell("Another process compiles these; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack(folder: pathlib.Path) -> pathlib.Path:
    """The sources, as files."""
    with zipfile.ZipFile(_built.sources()) as archive:
        archive.extractall(folder)
    return folder


def _commands(
    toolchain: _toolchain.Toolchain, sources: pathlib.Path
) -> dict[pathlib.Path, list[str]]:
    """What compiles each translation unit, but for the output."""
    flags = [
        f"-std={toolchain.standard}",
        _OPTIMIZE,
        "-fPIC",
        "-w",
        "-DNDEBUG",
        "-DAT_PER_OPERATOR_HEADERS",
        "-DUSE_CUDA",
        "-I.",
        *toolchain.flags,
    ]
    units = sorted((sources / _UNITS).glob("unit_*.cpp"))
    return {
        unit: [*toolchain.compiler, *flags, "-c", str(unit.relative_to(sources))] for unit in units
    }


def _compile(
    commands: dict[pathlib.Path, list[str]], folder: pathlib.Path, torch: _torch.Torch, jobs: int
) -> list[pathlib.Path]:
    """Compiles what is not compiled yet; returns all objects."""
    objects = {}
    for unit, command in commands.items():
        # Other flags or another compiler make another object.
        key = hashlib.sha256(shlex.join(command).encode()).hexdigest()[:16]
        objects[unit] = folder / f"{unit.stem}-{key}.o"
    waiting = [unit for unit in commands if not objects[unit].is_file()]
    done = len(commands) - len(waiting)
    if done:
        _tell(f"{done} of {len(commands)} parts are compiled already")
    running: dict[pathlib.Path, tuple[subprocess.Popen[bytes], float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                unit = waiting.pop(0)
                running[unit] = (_start(commands[unit], objects[unit], folder), time.monotonic())
            time.sleep(0.1)
            for unit, (process, begin) in list(running.items()):
                if process.poll() is None:
                    continue
                del running[unit]
                if process.returncode != 0:
                    raise _failed(objects[unit].with_suffix(".log"), torch, process.returncode)
                objects[unit].with_suffix(".part").replace(objects[unit])
                done += 1
                _tell(f"[{done}/{len(commands)}] compiled in {time.monotonic() - begin:.0f} s")
            _tick(done, len(commands), running)
    finally:
        for process, _ in running.values():
            process.terminate()
        for process, _ in running.values():
            process.wait()
    return list(objects.values())


def _start(
    command: list[str], result: pathlib.Path, folder: pathlib.Path
) -> subprocess.Popen[bytes]:
    """Starts a compiler; what it says goes into a file."""
    with result.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            [*command, "-o", str(result.with_suffix(".part"))],
            cwd=folder / "sources",
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _failed(log: pathlib.Path, torch: _torch.Torch, status: int) -> BuildError:
    """What to say of a unit that does not compile."""
    said = log.read_text(encoding="utf-8", errors="replace")
    files = _diagnostics.by_source(said)
    if not files:
        last = (said.strip().splitlines() or ["it said nothing"])[-1]
        return BuildError(
            f"the compiler ended with status {status}: {last}. All that it said is in {log}.\n"
            "If memory was short: build-operators --jobs=1"
        )
    lines = [f"  {file}: {error.text} ({error.place})" for file, error in files.items()]
    return BuildError(
        f"torch {torch.version} needs a port of these files, which do not compile against its headers:\n"
        + "\n".join(lines[:10])
        + f"\nAll that the compiler said is in {log}; docs/porting.md of torch_cuda says what to change.\n"
        f"Until then: {_choice.install_another()}"
    )


def _link(
    toolchain: _toolchain.Toolchain,
    objects: Sequence[pathlib.Path],
    target: pathlib.Path,
    torch: _torch.Torch,
    major: int,
) -> None:
    """Links the router; what it refers to has to be in torch's libraries."""
    target.parent.mkdir(parents=True, exist_ok=True)
    runtime = next(path for path in _libraries.of(major) if path.name == f"libcudart.so.{major}")
    command = [
        *toolchain.compiler,
        "-shared",
        f"-Wl,-soname,{target.name}",
        "-o",
        str(target),
        *map(str, objects),
        *(str(torch.folder / "lib" / f"lib{name}.so") for name in _TORCHS),
        str(runtime),
        "-Wl,--no-undefined",
        "-Wl,--allow-shlib-undefined",
        "-ldl",
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        missing = sorted(set(re.findall(r"undefined reference to `([^']+)'", done.stderr)))
        raise BuildError(
            f"torch {torch.version} needs a port: its libraries lack {'; '.join(missing[:5])}\n"
            f"Until then: {_choice.install_another()}"
            if missing
            else f"linking failed: {done.stderr.strip()}"
        )


def _try(cache: pathlib.Path, torch: _torch.Torch) -> None:
    """Has another process compute with it, and compare with the CPU."""
    environment = {
        name: value for name, value in os.environ.items() if name not in _OTHER_DEVICES
    } | {"TORCH_CUDA_DEVICES": "fake", _built.CACHE_VARIABLE: str(cache)}
    program = cache / "trial.py"
    program.write_text(_TRIAL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "torch_cuda_runtime", "run", str(program)],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise BuildError(
            f"the operators for torch {torch.version} compile, but a trial failed; they are not used:\n"
            f"{done.stderr.strip()}\nUntil then: {_choice.install_another()}"
        )
    _tell("Tried: CUDA computes what the CPU does.")


def _tick(
    done: int, parts: int, running: dict[pathlib.Path, tuple[subprocess.Popen[bytes], float]]
) -> None:
    """On a terminal, how long it has been going on."""
    if running and sys.stdout.isatty():
        longest = max(time.monotonic() - begin for _, begin in running.values())
        print(
            f"[{done}/{parts}] compiling {len(running)} parts, {longest:.0f} s\r",
            end="",
            flush=True,
        )


def _tell(line: str) -> None:
    print(line, flush=True)
