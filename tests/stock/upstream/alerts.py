"""Which names PyTorch's CUDA library says are not deterministic: the arguments of its calls of one function."""

from __future__ import annotations

import importlib
import mmap
import pathlib
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

_FUNCTION = "_ZN2at7Context21alertNotDeterministicE"
_NEAR = 120  # bytes of code before a call
_SHORTEST, _LONGEST = 4, 120


def _slots(elf: Any) -> Iterator[int]:
    """Where the function's address is kept, for calls of another library's function."""
    symbols = elf.get_section_by_name(".dynsym")
    for name in (".rela.plt", ".rela.dyn"):
        section = elf.get_section_by_name(name)
        for entry in section.iter_relocations() if section else ():
            index = entry["r_info_sym"]
            if index and symbols.get_symbol(index).name.startswith(_FUNCTION):
                yield entry["r_offset"]


def _targets(elf: Any) -> Iterator[int]:
    """Addresses that are called for the function: jumps by those places."""
    slots = set(_slots(elf))
    for name in (".plt", ".plt.sec", ".plt.got"):
        section = elf.get_section_by_name(name)
        data = section.data() if section else b""
        at = data.find(b"\xff\x25")
        while at >= 0:
            (offset,) = struct.unpack_from("<i", data, at + 2)
            if section["sh_addr"] + at + 6 + offset in slots:
                yield section["sh_addr"] + at - at % 16
            at = data.find(b"\xff\x25", at + 2)


def names(library: pathlib.Path) -> set[str]:
    """What the function is called with, as far as the code says it within a few instructions of the call.

    Args:
        library: an ELF file for x86-64.
    """
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        elf: Any = importlib.import_module("elftools.elf.elffile").ELFFile(file)
        parts = [
            (one["sh_addr"], one["sh_size"], one["sh_offset"])
            for one in elf.iter_sections()
            if one["sh_addr"]
        ]

        def text_at(address: int) -> str:
            for begin, size, offset in parts:
                if begin <= address < begin + size:
                    at = offset + address - begin
                    raw = data[at : at + _LONGEST].split(b"\0")[0]
                    return raw.decode("ascii") if raw.isascii() else ""
            return ""

        text = elf.get_section_by_name(".text")
        code = data[text["sh_offset"] : text["sh_offset"] + text["sh_size"]]
        numbers = np.frombuffer(code, np.uint8)
        calls = np.nonzero((numbers[:-4] == 0xE8) | (numbers[:-4] == 0xE9))[0]
        offsets = sum(numbers[calls + 1 + i].astype(np.int64) << (8 * i) for i in range(4))
        ends = text["sh_addr"] + calls + 5 + np.where(offsets >= 2**31, offsets - 2**32, offsets)
        found = set()
        for call in calls[np.isin(ends, list(_targets(elf)))]:
            for at in range(int(call) - 7, int(call) - _NEAR, -1):
                # lea REGISTER, [rip + OFFSET]
                if code[at] in (0x48, 0x4C) and code[at + 1] == 0x8D and code[at + 2] & 0xC7 == 5:
                    (offset,) = struct.unpack_from("<i", code, at + 3)
                    name = text_at(text["sh_addr"] + at + 7 + offset)
                    if len(name) >= _SHORTEST and name.isprintable():
                        found.add(name)
                        break
        return found
