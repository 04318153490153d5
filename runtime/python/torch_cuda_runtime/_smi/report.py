"""The long report: -q, as text and as XML. One tree for both, titles beside tags."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Union
from xml.etree import ElementTree

from torch_cuda_runtime._smi import fields
from torch_cuda_runtime._smi.nvml import Device, Nvml

MISSING = "N/A"

_WIDTH = 42  # of titles, with their indentation
_ARCHITECTURES = {
    5: "Volta",
    6: "Turing",
    7: "Ampere",
    8: "Ada Lovelace",
    9: "Hopper",
    10: "Blackwell",
}

Branch = tuple[str, str, Union[str, "list[Branch]"]]
"""A title, a tag of XML, and a value or what is below."""

SECTIONS = {
    "MEMORY": ("fb_memory_usage", "bar1_memory_usage"),
    "UTILIZATION": ("utilization",),
    "ECC": ("ecc_mode",),
    "TEMPERATURE": ("temperature",),
    "POWER": ("gpu_power_readings",),
    "CLOCK": ("clocks", "max_clocks"),
    "COMPUTE": ("compute_mode",),
    "PIDS": ("processes",),
    "PERFORMANCE": ("performance_state",),
}
"""What -d can choose, and what that shows."""


def _text(value: object, unit: str = "") -> str:
    return MISSING if value is None else f"{value} {unit}".rstrip()


def _group(title: str, tag: str, unit: str, *parts: tuple[str, str, object]) -> Branch:
    return title, tag, [(title, tag, _text(value, unit)) for title, tag, value in parts]


def _pci(device: Device) -> Branch:
    pci = device.pci
    lanes = device.number("nvmlDeviceGetMaxPcieLinkWidth")
    lanes_now = device.number("nvmlDeviceGetCurrPcieLinkWidth")
    link: list[Branch] = [
        _group(
            "PCIe Generation",
            "pcie_gen",
            "",
            ("Max", "max_link_gen", device.number("nvmlDeviceGetMaxPcieLinkGeneration")),
            ("Current", "current_link_gen", device.number("nvmlDeviceGetCurrPcieLinkGeneration")),
        ),
        _group(
            "Link Width",
            "link_widths",
            "",
            ("Max", "max_link_width", lanes and f"{lanes}x"),
            ("Current", "current_link_width", lanes_now and f"{lanes_now}x"),
        ),
    ]
    return (
        "PCI",
        "pci",
        [
            ("Bus", "pci_bus", f"0x{pci.bus:02X}"),
            ("Device", "pci_device", f"0x{pci.device:02X}"),
            ("Domain", "pci_domain", f"0x{pci.domain:04X}"),
            ("Device Id", "pci_device_id", f"0x{pci.device_id:08X}"),
            ("Bus Id", "pci_bus_id", device.bus_id),
            ("Sub System Id", "pci_sub_system_id", f"0x{pci.subsystem_id:08X}"),
            ("GPU Link Info", "pci_gpu_link_info", link),
        ],
    )


def _clocks(device: Device, title: str, tag: str, maximal: bool) -> Branch:
    kinds = (("Graphics", "graphics"), ("SM", "sm"), ("Memory", "mem"), ("Video", "video"))
    rates = (
        (word, f"{tag_}_clock", fields.clock(device, i, maximal))
        for i, (word, tag_) in enumerate(kinds)
    )
    return _group(title, tag, "MHz", *rates)


def _processes(device: Device) -> Branch:
    processes: list[Branch] = [
        (
            "Process",
            "process_info",
            [
                ("Process ID", "pid", str(process.pid)),
                ("Type", "type", "C"),
                ("Name", "process_name", process.name),
                ("Used GPU Memory", "used_memory", f"{fields.mebibytes(process.memory)} MiB"),
            ],
        )
        for process in device.processes
    ]
    return "Processes", "processes", processes or ""


def _device(device: Device) -> list[Branch]:
    state = fields.enabled
    memory = device.memory
    rates = device.utilization
    return [
        ("Product Name", "product_name", device.name),
        ("Product Brand", "product_brand", "Unknown"),
        (
            "Product Architecture",
            "product_architecture",
            _ARCHITECTURES.get(device.number("nvmlDeviceGetArchitecture") or 0, "Unknown"),
        ),
        ("Display Mode", "display_mode", _text(state(device.number("nvmlDeviceGetDisplayMode")))),
        (
            "Display Active",
            "display_active",
            _text(state(device.number("nvmlDeviceGetDisplayActive"))),
        ),
        (
            "Persistence Mode",
            "persistence_mode",
            _text(state(device.number("nvmlDeviceGetPersistenceMode"))),
        ),
        _group(
            "MIG Mode",
            "mig_mode",
            "",
            ("Current", "current_mig", None),
            ("Pending", "pending_mig", None),
        ),
        ("Serial Number", "serial", _text(device.text("nvmlDeviceGetSerial"))),
        ("GPU UUID", "uuid", device.uuid),
        ("Minor Number", "minor_number", _text(device.number("nvmlDeviceGetMinorNumber"))),
        ("VBIOS Version", "vbios_version", _text(device.text("nvmlDeviceGetVbiosVersion"))),
        (
            "MultiGPU Board",
            "multigpu_board",
            "Yes" if device.number("nvmlDeviceGetMultiGpuBoard") else "No",
        ),
        ("Board ID", "board_id", f"0x{device.number('nvmlDeviceGetBoardId') or 0:x}"),
        _pci(device),
        ("Fan Speed", "fan_speed", _text(device.number("nvmlDeviceGetFanSpeed"), "%")),
        ("Performance State", "performance_state", _text(fields.performance_state(device))),
        _group(
            "FB Memory Usage",
            "fb_memory_usage",
            "MiB",
            ("Total", "total", fields.mebibytes(memory.total)),
            ("Reserved", "reserved", 0),
            ("Used", "used", fields.mebibytes(memory.used)),
            ("Free", "free", fields.mebibytes(memory.free)),
        ),
        _group(
            "BAR1 Memory Usage",
            "bar1_memory_usage",
            "MiB",
            *((word, word.lower(), None) for word in ("Total", "Used", "Free")),
        ),
        ("Compute Mode", "compute_mode", _text(fields.compute_mode(device))),
        _group(
            "Utilization",
            "utilization",
            "%",
            ("Gpu", "gpu_util", rates and rates.gpu),
            ("Memory", "memory_util", rates and rates.memory),
            ("Encoder", "encoder_util", None),
            ("Decoder", "decoder_util", None),
        ),
        _group(
            "ECC Mode",
            "ecc_mode",
            "",
            ("Current", "current_ecc", None),
            ("Pending", "pending_ecc", None),
        ),
        _group(
            "Temperature",
            "temperature",
            "C",
            ("GPU Current Temp", "gpu_temp", device.number("nvmlDeviceGetTemperature", 0)),
        ),
        _group(
            "GPU Power Readings",
            "gpu_power_readings",
            "W",
            ("Power Draw", "power_draw", None),
            ("Current Power Limit", "current_power_limit", None),
        ),
        _clocks(device, "Clocks", "clocks", maximal=False),
        _clocks(device, "Max Clocks", "max_clocks", maximal=True),
        _processes(device),
    ]


def _head(nvml: Nvml) -> list[Branch]:
    return [
        ("Timestamp", "timestamp", time.strftime("%a %b %e %H:%M:%S %Y")),
        ("Driver Version", "driver_version", nvml.driver_version),
        ("CUDA Version", "cuda_version", nvml.cuda_version),
        ("Attached GPUs", "attached_gpus", str(len(nvml.devices()))),
    ]


def _lines(branches: Iterable[Branch], indentation: int) -> Iterable[str]:
    for title, _, value in branches:
        start = " " * indentation + title
        if isinstance(value, str):
            yield f"{start:<{_WIDTH}}: {value or 'None'}"
        else:
            yield start
            yield from _lines(value, indentation + 4)


def text(nvml: Nvml, devices: list[Device], sections: list[str]) -> str:
    """The report for people.

    Args:
        nvml: the library.
        devices: what is told of.
        sections: keys of SECTIONS that alone are shown; none: all.
    """
    shown = {tag for section in sections for tag in SECTIONS[section]}
    lines = ["", "==============NVSMI LOG==============", "", *_lines(_head(nvml), 0), ""]
    for device in devices:
        branches = [branch for branch in _device(device) if not sections or branch[1] in shown]
        lines += [f"GPU {device.bus_id}", *_lines(branches, 4), ""]
    return "\n".join(lines)


def xml(nvml: Nvml, devices: list[Device]) -> str:
    """The report for programs.

    Args:
        nvml: the library.
        devices: what is told of.
    """
    root = ElementTree.Element("nvidia_smi_log")
    _add(root, _head(nvml))
    for device in devices:
        _add(ElementTree.SubElement(root, "gpu", id=device.bus_id), _device(device))
    ElementTree.indent(root, "\t")
    return '<?xml version="1.0" ?>\n' + ElementTree.tostring(root, encoding="unicode")


def _add(parent: ElementTree.Element, branches: Iterable[Branch]) -> None:
    for _, tag, value in branches:
        child = ElementTree.SubElement(parent, tag)
        if isinstance(value, str):
            # As NVIDIA's, which has places in hexadecimal without a prefix here.
            child.text = value.removeprefix("0x") if tag.startswith("pci_") else value
        else:
            _add(child, value)
