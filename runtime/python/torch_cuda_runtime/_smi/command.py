"""The command line of nvidia-smi: what is asked for, and of which devices. Source: its manual page."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeVar

import torch_cuda_runtime
from torch_cuda_runtime import _smi
from torch_cuda_runtime._errors import DeviceError
from torch_cuda_runtime._smi import fields, report, table
from torch_cuda_runtime._smi.nvml import Device, Nvml, NvmlError

INVALID, NOT_FOUND, NO_LIBRARY, OTHER = 2, 6, 12, 255
"""Exit statuses, as the manual page lists them."""

Source = TypeVar("Source")


class _Fault(Exception):
    """Ends the program with a message and an exit status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Fault(INVALID, f"{message}; {_smi.NAME} -h lists the options")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=_smi.NAME,
        allow_abbrev=False,
        description="Tells of the devices that TORCH_CUDA_DEVICES or TORCH_CUDA_SIM asks for, and who uses them.",
    )
    add = parser.add_argument
    add("topo", nargs="?", help="with -m: how devices are connected")
    add("-m", "--matrix", action="store_true", help="see topo")
    add("--version", action="store_true", help="tell versions")
    add("-L", "--list-gpus", action="store_true", help="list devices with their UUIDs")
    add("-q", "--query", action="store_true", help="tell all that is known")
    add("-x", "--xml-format", action="store_true", help="with -q: as XML")
    add(
        "-d",
        "--display",
        metavar="PART",
        default="",
        help="with -q: only " + ", ".join(report.SECTIONS),
    )
    add(
        "-i",
        "--id",
        metavar="ID",
        default="",
        help="index, UUID or bus id of a device; several with commas",
    )
    add("-f", "--filename", metavar="FILE", help="write there")
    add("-l", "--loop", metavar="SEC", nargs="?", type=float, const=5.0, help="again and again (5)")
    add("-lms", "--loop-ms", metavar="MS", type=float, help="again and again")
    add("--query-gpu", metavar="FIELDS", help="columns; see --help-query-gpu")
    add("--query-compute-apps", metavar="FIELDS", help="columns; see --help-query-compute-apps")
    add("--format", metavar="csv[,noheader][,nounits]", help="of columns")
    add("--help-query-gpu", action="store_true", help="list fields")
    add("--help-query-compute-apps", action="store_true", help="list fields")
    return parser


def _list_fields(known: Mapping[str, fields.Field[Source]], aliases: Mapping[str, str]) -> str:
    lines = []
    for name, field in known.items():
        names = [name, *(alias for alias, meant in aliases.items() if meant == name)]
        lines.append(
            " or ".join(f'"{one}"' for one in names) + (f", in {field.unit}" if field.unit else "")
        )
    return "\n".join(lines)


def _columns(
    asked: str,
    known: Mapping[str, fields.Field[Source]],
    aliases: Mapping[str, str],
    form: str | None,
    option: str,
) -> tuple[list[str], set[str]]:
    """The fields and the form that a query asks for.

    Raises:
        _Fault: one is not known.
    """
    forms = {part.strip() for part in (form or "").split(",")}
    if "csv" not in forms or not forms <= {"csv", "noheader", "nounits"}:
        found = f"--format={form}" if form else "no --format"
        raise _Fault(
            INVALID, f"found {found} beside --{option}; needed --format=csv[,noheader][,nounits]"
        )
    names = [aliases.get(name.strip(), name.strip()) for name in asked.split(",")]
    for name in names:
        if name not in known:
            raise _Fault(INVALID, f'"{name}" is no field; --help-{option} lists them')
    return names, forms


def _csv(
    sources: Iterable[Source],
    names: list[str],
    known: Mapping[str, fields.Field[Source]],
    forms: set[str],
) -> str:
    rows = [] if "noheader" in forms else [[known[name].header(name) for name in names]]
    rows += [
        [known[name].text(source, "nounits" not in forms) for name in names] for source in sources
    ]
    return "\n".join(", ".join(row) for row in rows)


def _chosen(devices: list[Device], ids: str) -> list[Device]:
    """The devices that -i names.

    Raises:
        _Fault: one is none.
    """
    if not ids:
        return devices
    chosen = []
    for one in ids.split(","):
        found = [device for device in devices if one.strip().lower() in _names(device)]
        if not found:
            raise _Fault(NOT_FOUND, f"no device is {one}; {_smi.NAME} -L lists them")
        chosen += found
    return chosen


def _names(device: Device) -> set[str]:
    pci = device.pci
    short = f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"
    return {
        str(device.index),
        device.uuid.lower(),
        device.bus_id.lower(),
        short,
        short.partition(":")[2],
    }


def _answer(options: argparse.Namespace, nvml: Nvml) -> str:
    """What is printed once."""
    devices = nvml.devices()
    if not devices:
        raise _Fault(NOT_FOUND, "found no devices")
    devices = _chosen(devices, options.id)
    if options.list_gpus:
        return table.names(devices)
    if options.topo:
        return table.topology(devices)
    if options.query_gpu is not None:
        names, forms = _columns(
            options.query_gpu, fields.GPU, fields.GPU_ALIASES, options.format, "query-gpu"
        )
        return _csv(devices, names, fields.GPU, forms)
    if options.query_compute_apps is not None:
        names, forms = _columns(
            options.query_compute_apps,
            fields.APPS,
            fields.APPS_ALIASES,
            options.format,
            "query-compute-apps",
        )
        uses = [(device, process) for device in devices for process in device.processes]
        return _csv(uses, names, fields.APPS, forms)
    if options.query:
        if options.xml_format:
            return report.xml(nvml, devices)
        return report.text(nvml, devices, _sections(options.display))
    return table.summary(nvml, devices)


def _sections(asked: str) -> list[str]:
    sections = [part.strip().upper() for part in asked.split(",") if part.strip()]
    for section in sections:
        if section not in report.SECTIONS:
            raise _Fault(INVALID, f"-d knows no {section}; needed {', '.join(report.SECTIONS)}")
    return sections


def _check(options: argparse.Namespace) -> None:
    if options.topo not in (None, "topo"):
        raise _Fault(INVALID, f"found {options.topo}; needed an option, or topo -m")
    if bool(options.topo) != options.matrix:
        raise _Fault(INVALID, "topo and -m go together")
    if (options.xml_format or options.display) and not options.query:
        raise _Fault(INVALID, "-x and -d go with -q")
    if options.format and options.query_gpu is None and options.query_compute_apps is None:
        raise _Fault(INVALID, "--format goes with --query-gpu or --query-compute-apps")


def _versions(nvml: Nvml) -> str:
    return "\n".join(
        (
            f"NVIDIA-SMI version  : {nvml.driver_version}",
            f"NVML version        : {nvml.version}",
            f"DRIVER version      : {nvml.driver_version}",
            f"CUDA Version        : {nvml.cuda_version}",
        )
    )


def _open() -> Nvml:
    # The names of devices become paths, for a library that knows no Python.
    os.environ.update(torch_cuda_runtime.environment())
    return Nvml(torch_cuda_runtime.library_folder() / "libnvidia-ml.so.1")


def _run(arguments: list[str]) -> None:
    signal.signal(
        signal.SIGPIPE, signal.SIG_DFL
    )  # ends where nobody reads any more, as other programs
    options = _parser().parse_args(arguments)
    _check(options)
    if options.help_query_gpu:
        print(_list_fields(fields.GPU, fields.GPU_ALIASES))
        return
    if options.help_query_compute_apps:
        print(_list_fields(fields.APPS, fields.APPS_ALIASES))
        return
    nvml = _open()
    if options.version:
        print(_versions(nvml))
        return
    seconds = options.loop if options.loop_ms is None else options.loop_ms / 1000
    with contextlib.ExitStack() as stack:
        file = sys.stdout
        if options.filename:
            file = stack.enter_context(pathlib.Path(options.filename).open("w"))
        while True:
            text = _answer(options, nvml)
            print(text, file=file, flush=True, end="\n" if text else "")
            if seconds is None:
                return
            if options.format:
                options.format += ",noheader"  # once is enough
            time.sleep(seconds)


def main(arguments: list[str]) -> int:
    """Runs the program.

    Args:
        arguments: of the command line.

    Returns:
        The exit status.
    """
    try:
        _run(arguments)
    except _Fault as fault:
        status, text = fault.status, str(fault)
    except NvmlError as error:
        status, text = OTHER, f"NVML: {error}"
    except DeviceError as error:
        status, text = _smi.NO_DRIVER, str(error)
    except OSError as error:
        status, text = (OTHER if error.filename else NO_LIBRARY), str(error)
    except KeyboardInterrupt:
        return 0
    else:
        return 0
    print(f"{_smi.NAME}: {text}", file=sys.stderr)
    return status
