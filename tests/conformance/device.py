"""The device library under test: where it lies, what it is initialized with, what it can do."""

from __future__ import annotations

import pathlib
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

_SECONDS = 120
"""For a library to open and to say what it is."""


class DeviceError(Exception):
    """A library that cannot be tested: what was found, what is needed."""


@dataclass(frozen=True)
class Device:
    """A device library that opens.

    Attributes:
        path: of the library.
        options: KEY=VALUE pairs with commas between them, or "".
        name: the library's.
        devices: names of its devices.
        capabilities: of each device, such as "ACCEL_CAP_IPC".
    """

    path: pathlib.Path
    options: str
    name: str
    devices: tuple[str, ...]
    capabilities: tuple[frozenset[str], ...]

    @property
    def count(self) -> int:
        """How many devices it has."""
        return len(self.devices)

    def lacking(self, capability: str) -> list[int]:
        """The numbers of the devices that lack a capability."""
        return [n for n, those in enumerate(self.capabilities) if capability not in those]

    @property
    def environment(self) -> dict[str, str]:
        """The variable that names the library for torch_cuda.

        Raises:
            DeviceError: the path has a character that the variable gives a meaning.
        """
        path = str(self.path)
        if "," in path or ":" in path:
            raise DeviceError(
                f"found a comma or colon in {path}; needed a path without, for TORCH_CUDA_DEVICES: "
                "make a symbolic link"
            )
        options = self.options.replace(",", ";")
        return {"TORCH_CUDA_DEVICES": f"{path}:{options}" if options else path}


def describe(
    program: pathlib.Path, path: pathlib.Path, options: str, environment: Mapping[str, str]
) -> Device:
    """Opens a library in a process of its own, and asks what it is.

    Args:
        program: describe.cpp's.
        path: of the library.
        options: KEY=VALUE pairs with commas between them, or "".
        environment: of the process.

    Raises:
        DeviceError: there is no such file, it is no library of the device ABI, or it does not open.
    """
    if not path.is_file():
        raise DeviceError(f"found no file {path}; needed the path of a device's library")
    command = [str(program), str(path), options]
    try:
        done = subprocess.run(
            command, env=dict(environment), capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(f"{path} did not open within {_SECONDS} seconds") from None
    out, said = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise DeviceError(f"{path} does not open: {name} ended the process\n{said}".rstrip())
    if done.returncode > 0:
        raise DeviceError(said.strip() or f"{path} ended the process that opened it")
    lines = out.splitlines()
    fields = [line.split("\t") for line in lines[1:]]
    devices = tuple(name for _, name in fields)
    if not devices:
        raise DeviceError(
            f"found no device in {path}; needed one to test: pass its options, such as --options count=1"
        )
    capabilities = tuple(frozenset(those.split(",")) - {""} for those, _ in fields)
    return Device(path, options, lines[0], devices, capabilities)
