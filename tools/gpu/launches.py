"""Asks a GPU for launches that the simulated device recorded, and compares the memory that they leave.

    python3 tools/gpu/launches.py RECORD.jsonl[.xz] ... [--workers 8] [--seconds 240] [--out FILE]

A record comes from the engine's tests (cudasim/engine/testing/launch_record.h): PTX, parameters, and the memory before
and after. The program needs a driver (libcuda.so.1) and no package beside numpy. Each line of --out is one launch with
its outcome:

- `same`: every byte is the same;
- `nan`: the only differences are NaNs in the place of NaNs, as one format of floating-point numbers explains them;
- `close`: finite numbers of one format that differ in the last bits; `ulps` is the largest distance;
- `different`: something else;
- `refused`: the driver does not take the module; `fault`: the launch ends with an error; `pointers`: the memory holds
  addresses of the recording process, so the GPU cannot be given the same.
"""

from __future__ import annotations

import argparse
import array
import collections
import contextlib
import ctypes
import dataclasses
import json
import lzma
import multiprocessing
import pathlib
import queue as queues
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

# CUDA driver API, cuda.h.
_ERROR_LOG_BUFFER = 5  # CU_JIT_ERROR_LOG_BUFFER
_ERROR_LOG_BYTES = 6  # CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
_CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

_MOST_LOST = 20  # processes
_MOST_ULPS = 64  # of two numbers that are close
_MOST_WORDS = 64  # that an answer tells of a block


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of floating-point numbers: its name, its bytes, and the bits of its exponent."""

    name: str
    size: int
    exponent: int

    def numbers(self, data: Bytes) -> Words:
        """The numbers in memory, as integers."""
        return data.view(f"<u{self.size}").astype(np.uint64)

    def exponents(self, numbers: Words) -> Words:
        """The exponents of numbers; the largest is that of infinities and NaNs."""
        return (numbers >> np.uint64(8 * self.size - 1 - self.exponent)) & np.uint64(self.largest)

    def magnitudes(self, numbers: Words) -> Words:
        """The numbers without their signs."""
        return numbers & np.uint64((1 << (8 * self.size - 1)) - 1)

    @property
    def largest(self) -> int:
        """The exponent of infinities and NaNs."""
        return (1 << self.exponent) - 1

    def nan(self, numbers: Words) -> Flags:
        """Which are NaNs."""
        infinity = np.uint64(self.largest << (8 * self.size - 1 - self.exponent))
        flags: Flags = self.magnitudes(numbers) > infinity
        return flags

    def ordinary(self, numbers: Words) -> Flags:
        """Which are neither NaNs nor infinities nor subnormal nor zero."""
        exponents = self.exponents(numbers)
        flags: Flags = (exponents != 0) & (exponents != self.largest)
        return flags


FORMATS = (Format("f16", 2, 5), Format("bf16", 2, 8), Format("f32", 4, 8), Format("f64", 8, 11))


class CudaError(RuntimeError):
    """A call of the driver failed; `status` is its CUresult."""

    def __init__(self, status: int, call: str, log: str = "") -> None:
        super().__init__(f"{call}: CUresult {status}" + (f": {log}" if log else ""))
        self.status = status


class Gpu:
    """One device and its context in this process."""

    def __init__(self, library: str = "libcuda.so.1") -> None:
        self._driver = ctypes.CDLL(library)
        self._context = ctypes.c_void_p()
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self.call("cuCtxSetCurrent", self._context)
        number = ctypes.c_int()
        parts = []
        for attribute in _CAPABILITY:
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, device)
            parts.append(number.value)
        #: 90 for 9.0.
        self.capability = 10 * parts[0] + parts[1]

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the driver.

        Raises:
            CudaError: it did not succeed.
        """
        status = getattr(self._driver, name)(*arguments)
        if status:
            raise CudaError(status, name)

    def load(self, text: str) -> ctypes.c_void_p:
        """Loads PTX; an error has the compiler's words."""
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(_ERROR_LOG_BUFFER, _ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(
            ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(len(log) - 1)
        )
        module = ctypes.c_void_p()
        status = self._driver.cuModuleLoadDataEx(
            ctypes.byref(module), text.encode() + b"\0", 2, options, values
        )
        if status:
            raise CudaError(status, "cuModuleLoadDataEx", log.value.decode(errors="replace"))
        return module

    def write(self, address: int, data: bytes) -> None:
        """Copies bytes to the device."""
        if data:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def read(self, address: int, count: int) -> Bytes:
        """Copies bytes from the device."""
        data = np.empty(count, np.uint8)
        if count:
            self.call(
                "cuMemcpyDtoH_v2",
                data.ctypes.data_as(ctypes.c_void_p),
                ctypes.c_uint64(address),
                ctypes.c_size_t(count),
            )
        return data


def relocate(data: bytes, places: list[tuple[int, int, int]]) -> tuple[bytes, bool]:
    """Replaces the recorded addresses in `data` by the GPU's.

    Args:
        data: aligned 64-bit words, such as parameters.
        places: (recorded address, bytes, address on the GPU) of each block of memory.

    Returns:
        the bytes, and whether a word was an address.
    """
    whole = len(data) // 8 * 8
    found = False
    words = []
    for word in memoryview(data[:whole]).cast("Q").tolist():
        base = next((place for place in places if place[0] <= word <= place[0] + place[1]), None)
        found = found or base is not None
        words.append(word if base is None else base[2] + word - base[0])
    return array.array("Q", words).tobytes() + data[whole:], found


def _explain(ours: Bytes, gpus: Bytes) -> tuple[str, int]:
    """Names the kind of the differences of two equally long memories, and the largest distance in ulps."""
    best = ("different", 0)
    for form in FORMATS:
        if len(ours) % form.size:
            continue
        left, right = form.numbers(ours), form.numbers(gpus)
        differs = left != right
        left, right = left[differs], right[differs]
        both_nan = form.nan(left) & form.nan(right)
        if both_nan.all():
            return f"nan {form.name}", 0
        left, right = left[~both_nan], right[~both_nan]
        # Numbers of 16 bits are within everything's reach of each other.
        if form.size == 2 or not (form.ordinary(left) & form.ordinary(right)).all():
            continue
        largest, smallest = np.maximum(left, right), np.minimum(left, right)
        distance = int((largest - smallest).max())
        if distance <= _MOST_ULPS:
            best = (f"close {form.name}", distance)
    return best


def _different_words(address: int, ours: Bytes, gpus: Bytes) -> list[tuple[int, int, str, str]]:
    """The first words of 32 bits that differ: address of the block, number of the word, both values."""
    whole = len(ours) // 4 * 4
    left, right = ours[:whole].view(np.uint32), gpus[:whole].view(np.uint32)
    return [
        (address, int(at), f"{left[at]:08x}", f"{right[at]:08x}")
        for at in np.flatnonzero(left != right)[:_MOST_WORDS]
    ]


def ask(gpu: Gpu, record: dict[str, Any]) -> dict[str, Any]:
    """Runs one recorded launch on the GPU and says how it compares."""
    answer: dict[str, Any] = {"test": record["test"], "ulps": 0}
    if record["cooperative"]:
        return answer | {"outcome": "skipped", "detail": "cooperative"}
    before = [bytes.fromhex(block["before"]) for block in record["memory"]]
    try:
        # The tests' texts name sm_80 and have what newer devices can do, too.
        module = gpu.load(
            record["text"].replace(".target sm_80", f".target sm_{gpu.capability}", 1)
        )
    except CudaError as error:
        return answer | {"outcome": "refused", "detail": str(error)}
    allocated: list[ctypes.c_uint64] = []
    try:
        places = []
        for block, data in zip(record["memory"], before, strict=True):
            address = ctypes.c_uint64()
            if block["variable"]:
                size = ctypes.c_size_t()
                try:
                    gpu.call(
                        "cuModuleGetGlobal_v2",
                        ctypes.byref(address),
                        ctypes.byref(size),
                        module,
                        block["variable"].encode(),
                    )
                except CudaError:
                    address.value = 0  # The compiler drops what nothing uses.
            else:
                gpu.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 1)))
                allocated.append(address)
            places.append((block["address"], len(data), address.value))
        for data, place in zip(before, places, strict=True):
            if relocate(data, places)[1]:
                return answer | {"outcome": "pointers"}
            if place[2]:
                gpu.write(place[2], data)
        function = ctypes.c_void_p()
        gpu.call("cuModuleGetFunction", ctypes.byref(function), module, record["kernel"].encode())
        if record["shared"] > 48 << 10:
            gpu.call("cuFuncSetAttribute", function, _DYNAMIC_SHARED, record["shared"])
        packed, _ = relocate(bytes.fromhex(record["parameters"]), places)
        buffer = ctypes.create_string_buffer(packed, max(len(packed), 1))
        size = ctypes.c_size_t(len(packed))
        extra = (ctypes.c_void_p * 5)(
            1,  # CU_LAUNCH_PARAM_BUFFER_POINTER
            ctypes.cast(buffer, ctypes.c_void_p).value,
            2,  # CU_LAUNCH_PARAM_BUFFER_SIZE
            ctypes.addressof(size),
            0,
        )
        gpu.call(
            "cuLaunchKernel",
            function,
            *record["grid"],
            *record["block"],
            record["shared"],
            None,
            None,
            extra,
        )
        gpu.call("cuCtxSynchronize")
        kinds = []
        for block, data, place in zip(record["memory"], before, places, strict=True):
            if not place[2] or not data:
                continue
            ours = np.frombuffer(bytes.fromhex(block["after"]) or data, np.uint8)
            gpus = gpu.read(place[2], len(data))
            if not np.array_equal(ours, gpus):
                kind, ulps = _explain(ours, gpus)
                kinds.append(kind)
                answer["ulps"] = max(answer["ulps"], ulps)
                answer.setdefault("words", []).extend(
                    _different_words(block["address"], ours, gpus)
                )
        kinds.sort(key=lambda kind: ("nan", "close", "different").index(kind.split()[0]))
        return answer | {"outcome": kinds[-1] if kinds else "same"}
    except CudaError as error:
        return answer | {"outcome": "fault", "detail": str(error)}
    finally:
        for address in allocated:
            gpu._driver.cuMemFree_v2(address)
        gpu._driver.cuModuleUnload(module)


def _title(record: dict[str, Any]) -> str:
    """The part of a kernel that its test is about, in one line."""
    found = re.search(r"^(?:@%on .*|@!%on bra OVER;\n(?s:.*?)OVER:)$", record["text"], re.MULTILINE)
    text = found.group(0) if found else ""
    return " ".join(
        text.replace("@!%on bra OVER;", "").replace("OVER:", "").replace("@%on ", "").split()
    )


def read_records(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Reads the launches of a file, which may be compressed with xz."""
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as file:
        for line in file:
            yield json.loads(line)


def _work(
    share: int, shares: int, begin: int, paths: list[pathlib.Path], end: float, queue: Any
) -> None:
    """One process: each `shares`-th launch from number `begin` on, up to the first that faults."""
    gpu = Gpu()
    number = -1
    for path in paths:
        for record in read_records(path):
            number += 1
            if number % shares != share or number < begin:
                continue
            late = time.time() > end
            answer = {"outcome": "late", "test": record["test"]} if late else ask(gpu, record)
            queue.put(answer | {"share": share, "number": number, "title": _title(record)})
            if answer["outcome"] == "fault":
                return  # A fault takes the context with it; another process goes on.
    queue.put({"share": share, "outcome": "end"})


def run(paths: list[pathlib.Path], workers: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Runs all launches in `workers` processes.

    Args:
        paths: records.
        workers: how many processes share the GPU.
        seconds: launches after that are `late`.

    Yields:
        an answer for each launch, in no order.

    Raises:
        RuntimeError: too many processes ended without an answer.
    """
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    end = time.time() + seconds
    begins = [0] * workers
    processes: dict[int, Any] = {}
    left = set(range(workers))
    lost = 0
    while left:
        for share in left:
            if share not in processes or (not processes[share].is_alive() and queue.empty()):
                if share in processes and processes[share].exitcode:
                    lost += 1
                    if lost > _MOST_LOST:
                        raise RuntimeError(
                            f"{lost} processes ended without an answer; the first error is above"
                        )
                    begins[share] += 1
                processes[share] = context.Process(
                    target=_work,
                    args=(share, workers, begins[share], paths, end, queue),
                    daemon=True,
                )
                processes[share].start()
        try:
            answer = queue.get(timeout=1)
        except queues.Empty:
            continue
        if answer["outcome"] == "end":
            left.remove(answer["share"])
        else:
            begins[answer["share"]] = answer["number"] + 1
            yield answer


def main() -> int:
    """Runs the launches of all files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", nargs="+", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    tally: collections.Counter[str] = collections.Counter()
    with options.out.open("w") if options.out else contextlib.nullcontext() as out:
        for answer in run(options.records, options.workers, options.seconds):
            tally[answer["outcome"]] += 1
            if out:
                out.write(json.dumps(answer) + "\n")
    for outcome, count in tally.most_common():
        print(f"{count:7} {outcome}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
