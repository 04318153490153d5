"""python -m torch_cuda_runtime doctor: what is chosen for torch and the other frameworks of this Python, and why.

None of them is imported here, but by processes of their own, as the user's programs do it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

from torch_cuda_runtime import (
    _asked,
    _built,
    _choice,
    _devices,
    _guests,
    _hook,
    _libraries,
    _toolchain,
    _torch,
)
from torch_cuda_runtime._errors import Unusable

_PTH = "torch_cuda_runtime.pth"

# What a program of the user's sees; the last line is the answer.
_TRIAL = """
import torch
count = torch.cuda.device_count()
if not count:
    torch.cuda.init()
sums = [(torch.ones(3, device=f"cuda:{i}") + 1).sum().item() for i in range(count)]
assert all(one == 6 for one in sums), sums
print(", ".join(f"cuda:{i} is {torch.cuda.get_device_name(i)}" for i in range(count)))
"""


class Report:
    """Lines that say what was found, and whether all is well."""

    def __init__(self) -> None:
        self.well = True

    def line(self, what: str, found: str) -> None:
        """Prints a line.

        Args:
            what: the thing, a few words.
            found: what it is.
        """
        print(f"{what + ':':<18} {found}", flush=True)

    def problem(self, what: str, error: object) -> None:
        """Prints what is wrong; the exit status says so, too.

        Args:
            what: the thing, a few words.
            error: what is wrong with it, and what to do.
        """
        self.well = False
        self.line(what, "NOT USABLE: " + str(error).replace("\n", "\n" + 19 * " "))


def main() -> int:
    """Prints the report.

    Returns:
        0 where torch gets the devices that are asked for, 1 where it does not.
    """
    report = Report()
    report.line("torch_cuda_runtime", f"{_version()}, {pathlib.Path(__file__).parent}")
    routers = [f"torch {minor} with CUDA {major}" for minor, major in _choice.routers()]
    report.line("compiled for", ", ".join(routers) or "no torch")
    report.line("Python", f"{sys.version.split()[0]}, {sys.executable}")
    torch = _torch.find()
    _variables(report)
    _start(report)
    _found_devices(report)
    guests = _guests.installed()
    if torch is None:
        if not guests:
            report.problem("torch", "there is none in this Python; python -m pip install torch")
    elif torch.cuda is None:
        _cpu_only(report, torch)
    else:
        report.line("torch", f"{torch.version}, CUDA {torch.cuda}, {torch.folder}")
        _chosen(report, torch)
    if report.well and torch is not None:
        _try(report, "tried", _TRIAL)
    for guest in guests:
        _guest(report, guest)
    return 0 if report.well else 1


def _version() -> str:
    try:
        return importlib.metadata.version("torch_cuda_runtime")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _variables(report: Report) -> None:
    for name in (_asked.DEVICES_VARIABLE, _asked.SIM_VARIABLE):
        report.line(name, repr(os.environ[name]) if name in os.environ else "not set")
    if _asked.requested_by() is None:
        report.problem(
            "asked for", f"nothing; set {_asked.SIM_VARIABLE}=1, or {_asked.DEVICES_VARIABLE}"
        )
    else:
        report.line("asked for", ", ".join(_asked.libraries()))


def _start(report: Report) -> None:
    """Whether interpreters look at the variables when they start."""
    file = pathlib.Path(__file__).parent.parent / _PTH
    elsewhere = "run programs by: python -m torch_cuda_runtime run PROGRAM.py"
    if _hook.is_installed():
        report.line("start of Python", f"waits for torch and other frameworks ({file})")
    elif sys.flags.no_site:
        report.problem("start of Python", f"`python -S` reads no .pth files; {elsewhere}")
    elif not file.is_file():
        report.problem(
            "start of Python",
            f"there is no {file}; python -m pip install --force-reinstall --no-deps torch_cuda_runtime,\n"
            f"or {elsewhere}",
        )
    elif _asked.requested_by() is not None:
        report.problem(
            "start of Python", f"this Python reads no .pth files in {file.parent}; {elsewhere}"
        )


def _found_devices(report: Report) -> None:
    try:
        devices = {device.name: device for device in _devices.found()}
    except Unusable as error:
        report.problem("devices", error)
        return
    for name in _asked.libraries():
        device = devices.get(name)
        own = _libraries.root() / f"libaccel_{name}.so"
        if device is None and "/" not in name and not own.is_file():
            report.problem(
                f"device {name}",
                f"no installed distribution has it; install the one that does, or write the path of "
                f"its library into {_asked.DEVICES_VARIABLE}",
            )
            continue
        library = device.library if device is not None else own if "/" not in name else name
        report.line(f"device {name}", str(library))
        if device is not None and device.operators is not None:
            report.line("  operators", str(device.operators))
        if device is not None and device.ptxas is not None:
            report.line("  ptxas", str(device.ptxas))
        if device is not None and device.about is not None:
            report.line("  model", device.about)


def _cpu_only(report: Report, torch: _torch.Torch) -> None:
    report.line("torch", f"{torch.version}, without CUDA, {torch.folder}")
    if importlib.util.find_spec("torch_cuda") is None:
        report.problem("CUDA", _choice.without_cuda(torch))
    else:
        report.line("CUDA", "by torch_cuda; python -m torch_cuda doctor says more")


def _chosen(report: Report, torch: _torch.Torch) -> None:
    try:
        choice = _choice.choose(torch)
    except Unusable as error:
        report.problem("chosen", error)
        if torch.cuda_major in _libraries.majors():
            _compilers(report, torch)
        return
    folders = " and ".join(str(folder) for folder in _libraries.folders(choice.major))
    report.line("libraries", f"CUDA {choice.major}, {len(choice.libraries)} of them in {folders}")
    built = ", compiled on this machine" if choice.router == _built.find(torch) else ""
    report.line("router", f"torch {torch.minor}, {choice.router}{built}")
    passed_over = sorted(_nvidia_packages())
    report.line("passed over", ", ".join(passed_over) or "no package of NVIDIA's is installed")


def _compilers(report: Report, torch: _torch.Torch) -> None:
    """What operators for this torch could be compiled with."""
    try:
        found = _toolchain.find(torch)
    except Unusable as error:
        report.problem("compiler", error)
        return
    report.line("compiler", f"{found.version}, {found.standard}: {_choice.BUILD} can be run")
    report.line("CUDA's headers", " and ".join(str(folder) for folder in found.cuda))


def _nvidia_packages() -> Iterator[str]:
    """NVIDIA's packages with libraries in the place of which ours come."""
    for distribution in importlib.metadata.distributions():
        name = str(distribution.metadata["Name"] or "")
        if name.lower().startswith("nvidia-"):
            yield f"{name} {distribution.version}"


def _guest(report: Report, guest: _guests.Guest) -> None:
    """What a framework beside torch gets; one that gets nothing is told of, and is no fault of this Python."""
    obstacle = guest.obstacle() if guest.obstacle is not None else None
    if obstacle is not None:
        report.line(guest.name, "NO DEVICES: " + str(obstacle).replace("\n", "\n" + 19 * " "))
        return
    major = guest.major()
    libraries = "the driver and NVML" if major is None else f"the libraries of CUDA {major}"
    report.line(guest.name, f"{guest.version()}, {libraries}")
    if guest.trial is not None and report.well:
        _try(report, "  tried", guest.trial)


def _try(report: Report, what: str, program: str) -> None:
    """Has another process import a framework and use each device."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or not done.stdout.strip():
        report.problem(what, done.stderr.strip() or f"exit status {done.returncode}")
        return
    report.line(what, done.stdout.strip().splitlines()[-1])
