"""Empties the machine code in CUDA libraries that one architecture does not run, so that they compress well.

    python tools/gpu/fatbins.py empty 90 libcublas.so.12 ...
    python tools/gpu/fatbins.py expand libcublas.so.12 ...
    python tools/gpu/fatbins.py restore libcublas.so.12 ...
    python tools/gpu/fatbins.py compact libcublas.so.12 ...

`empty` changes the files in place; they keep their size and layout, only payloads become zeros. `expand` moves code
that is compressed (LZ4) into FILE.code, as it is when unpacked, which zstd packs into a fifth; `restore` compresses it
again and puts it back. `compact` takes emptied entries out of their containers. The code is then the same; the
compressed bytes are not NVIDIA's, as another LZ4 wrote them.
The format is described in runtime/code/fatbin/fatbin.cpp.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import dataclasses
import json
import mmap
import pathlib
import struct
import sys
from collections.abc import Iterator, Sequence

_MAGIC = struct.pack("<I", 0xBA55ED50)
_CONTAINER = struct.Struct("<IHHQ")
# Kind, version, size of the header, bytes of the payload; the architecture is at offset 28.
_ENTRY = struct.Struct("<HHIQ12xI")
_SMALLEST_ENTRY = 64
_PTX, _ELF, _LTO = 1, 2, 8
# Offsets in an entry's header.
_COMPRESSED_SIZE, _FLAGS, _UNPACKED_SIZE = 16, 40, 56
_LZ4 = 0x2000
# Of LZ4_compress_HC, quick ones first: the code has to fit where it was.
_LEVELS = (3, 6, 9, 12)


@dataclasses.dataclass(frozen=True)
class Entry:
    """Code for one architecture.

    Attributes:
        kind: 1 for PTX, 2 for machine code, 8 for code that is compiled at link time.
        architecture: 80 for sm_80 and compute_80.
        header: offset of its header in the file.
        begin: offset of the payload in the file.
        size: of the payload.
    """

    kind: int
    architecture: int
    header: int
    begin: int
    size: int


def entries_at(data: bytes | mmap.mmap, at: int) -> list[Entry] | None:
    """The entries of the container at an offset; None where there is none."""
    if at + _CONTAINER.size > len(data):
        return None
    _, version, header, size = _CONTAINER.unpack_from(data, at)
    end = at + header + size
    if version != 1 or header < _CONTAINER.size or end > len(data):
        return None
    found = []
    at += header
    while at + _SMALLEST_ENTRY <= end:
        kind, _, header, size, architecture = _ENTRY.unpack_from(data, at)
        if header < _SMALLEST_ENTRY or at + header + size > end:
            return None
        found.append(Entry(kind, architecture, at, at + header, size))
        at += header + size
    return found


def containers(data: bytes | mmap.mmap) -> Iterator[list[Entry]]:
    """The entries of each container in a file, in whatever section it lies."""
    at = data.find(_MAGIC)
    while at >= 0:
        found = entries_at(data, at)
        if found:
            yield found
            last = found[-1]
            at = last.begin + last.size - 1
        at = data.find(_MAGIC, at + 1)


def unused(entries: Sequence[Entry], architecture: int) -> list[Entry]:
    """The entries of a container that a GPU does not run.

    Machine code runs on GPUs of the same major number. Where a container has none for the GPU, the newest PTX that
    the GPU can compile stays.
    """

    def runs(entry: Entry) -> bool:
        return (
            entry.kind == _ELF
            and entry.architecture // 10 == architecture // 10
            and entry.architecture <= architecture
        )

    kept = [entry for entry in entries if runs(entry)]
    if not kept:
        sources = [e for e in entries if e.kind == _PTX and e.architecture <= architecture]
        kept = sorted(sources, key=lambda entry: entry.architecture)[-1:]
    return [one for one in entries if one.kind in (_PTX, _ELF) and one not in kept]


def empty(path: pathlib.Path, architecture: int, link_time: bool = False) -> tuple[int, int]:
    """Empties a library.

    Args:
        path: of the file, which is changed.
        architecture: of the GPU, 90 for sm_90.
        link_time: whether code that is compiled at link time goes, too.

    Returns:
        Bytes of code before, and bytes that became zeros.
    """
    whole = emptied = 0
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        for entries in list(containers(data)):
            whole += sum(entry.size for entry in entries)
            gone = unused(entries, architecture)
            gone += [entry for entry in entries if link_time and entry.kind == _LTO]
            for entry in gone:
                data[entry.begin : entry.begin + entry.size] = bytes(entry.size)
                emptied += entry.size
    return whole, emptied


@dataclasses.dataclass(frozen=True)
class Moved:
    """An entry whose code is in FILE.code.

    Attributes:
        header: offset of its header in the library.
        begin: offset of the payload.
        size: of the payload.
        unpacked: bytes of the code.
        level: of the compression that puts it back.
    """

    header: int
    begin: int
    size: int
    unpacked: int
    level: int


def _lz4() -> ctypes.CDLL:
    return ctypes.CDLL("liblz4.so.1")


def compress(code: bytes, level: int) -> bytes:
    """Code as a block of LZ4."""
    room = ctypes.create_string_buffer(len(code) + len(code) // 200 + 64)
    size = _lz4().LZ4_compress_HC(code, room, len(code), len(room), level)
    return ctypes.string_at(room, size)


def unpack(block: bytes, size: int) -> bytes:
    """The code of a block of LZ4."""
    room = ctypes.create_string_buffer(size)
    if _lz4().LZ4_decompress_safe(block, room, len(block), size) != size:
        raise ValueError("no block of LZ4")
    return ctypes.string_at(room, size)


def _move(data: bytes | mmap.mmap, entry: Entry) -> tuple[Moved, bytes] | None:
    (flags,) = struct.unpack_from("<Q", data, entry.header + _FLAGS)
    (size,) = struct.unpack_from("<I", data, entry.header + _COMPRESSED_SIZE)
    (unpacked,) = struct.unpack_from("<Q", data, entry.header + _UNPACKED_SIZE)
    block = bytes(data[entry.begin : entry.begin + size])
    if entry.kind not in (_PTX, _ELF) or not flags & _LZ4 or block.count(0) == size:
        return None
    code = unpack(block, unpacked)
    for level in _LEVELS:
        if len(compress(code, level)) <= entry.size:
            return Moved(entry.header, entry.begin, entry.size, unpacked, level), code
    return None


def expand(path: pathlib.Path) -> None:
    """Moves a library's code into FILE.code and FILE.entries."""
    with (
        path.open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as data,
        path.with_name(path.name + ".code").open("wb") as codes,
        concurrent.futures.ThreadPoolExecutor() as pool,
    ):
        everything = [entry for entries in containers(data) for entry in entries]
        moved = []
        # In portions, as all of the code may be gigabytes.
        for at in range(0, len(everything), 64):
            portion = everything[at : at + 64]
            for found in list(pool.map(lambda entry: _move(data, entry), portion)):
                if found:
                    one, code = found
                    moved.append(one)
                    codes.write(code)
                    data[one.begin : one.begin + one.size] = bytes(one.size)
    text = json.dumps([dataclasses.astuple(one) for one in moved])
    path.with_name(path.name + ".entries").write_text(text)


def restore(path: pathlib.Path) -> None:
    """Undoes `expand`."""
    codes = path.with_name(path.name + ".code")
    index = path.with_name(path.name + ".entries")
    moved = [Moved(*row) for row in json.loads(index.read_text())]
    starts = [0]
    for one in moved:
        starts.append(starts[-1] + one.unpacked)

    def packed(number: int) -> bytes:
        with codes.open("rb") as file:
            file.seek(starts[number])
            return compress(file.read(moved[number].unpacked), moved[number].level)

    with (
        path.open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as data,
        concurrent.futures.ThreadPoolExecutor() as pool,
    ):
        for one, block in zip(moved, pool.map(packed, range(len(moved))), strict=True):
            if len(block) > one.size:
                raise ValueError(f"{path}: the code at {one.begin} does not fit")
            data[one.begin : one.begin + len(block)] = block
            struct.pack_into("<I", data, one.header + _COMPRESSED_SIZE, len(block))
    codes.unlink()
    index.unlink()


def compact(path: pathlib.Path) -> None:
    """Takes emptied entries out of their containers, so that what is left is whole.

    Containers stay where they are and become shorter. One with nothing left stays as it is.
    """
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        for entries in list(containers(data)):
            kept = [
                data[one.header : one.begin + one.size]
                for one in entries
                if data[one.begin : one.begin + one.size].count(0) < one.size
            ]
            if not kept or len(kept) == len(entries):
                continue
            begin, end = entries[0].header, entries[-1].begin + entries[-1].size
            together = b"".join(kept)
            data[begin:end] = together + bytes(end - begin - len(together))
            # The container's header is the last 16 bytes before its first entry.
            struct.pack_into("<Q", data, begin - 8, len(together))


def main(command_line: Sequence[str]) -> None:
    """Changes the files of the command line."""
    command, *names = command_line
    if command == "empty":
        for name in names[1:]:
            whole, emptied = empty(pathlib.Path(name), int(names[0]))
            print(f"{name}: {emptied:,} of {whole:,} bytes of code emptied")
        return
    for name in names:
        {"expand": expand, "restore": restore, "compact": compact}[command](pathlib.Path(name))


if __name__ == "__main__":
    main(sys.argv[1:])
