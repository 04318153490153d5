"""What NVIDIA's compiler computes: instructions on constants, which ptxas executes itself and leaves out of the code.

A kernel stores the results of one instruction on some operands. Where ptxas folds, its machine code moves a constant
into the register that is stored; what it does not fold is left to the hardware, and says nothing here.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_WIDTHS = {1: 32, 16: 16, 32: 32, 64: 64}
"""Bits in memory by bits of a register; a predicate is a word."""

# All that the simulated device has, some of it for sm_90 alone.
_TARGET = "sm_90"
_MODULE = f".version 8.4\n.target {_TARGET}\n.address_size 64\n"

_ERROR = re.compile(r", line (\d+); error ")

_KERNEL = re.compile(r"Function : (\w+)")
_LINE = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s*/\* 0x([0-9a-f]{16}) \*/")
_STORE = re.compile(
    r"STG\.E(?:\.(64|U16))? (?:desc\[UR\d+\])?\[R\d+(?:\.64)?(?:\+(0x[0-9a-f]+))?\], (R\d+|RZ)$"
)
_MOVE = re.compile(
    r"(?:MOV|UMOV|IMAD\.MOV\.U32|IMAD\.U32|HFMA2\.MMA|HFMA2) (U?R\d+), "
    r"(?:-?RZ, RZ, )?(-?[\w.\[\]]+)(?:, [\w.+-]+)?$"
)
_ZEROS = re.compile(r"CS2R(\.32)? (R)(\d+), SRZ$")


@dataclass(frozen=True)
class Operand:
    """A register and its value.

    Attributes:
        bits: of the register; 1: a predicate.
        value: its bits.
    """

    bits: int
    value: int

    @staticmethod
    def parse(text: str) -> Operand:
        """Reads "32:1f"."""
        bits, value = text.split(":")
        return Operand(int(bits), int(value, 16))


@dataclass(frozen=True)
class Sample:
    """One line of a record (sample_record.h): an instruction, its operands, and what a test expects."""

    instruction: str
    code: str
    format: str
    expected: int
    before: Operand
    sources: tuple[Operand, ...]

    @staticmethod
    def parse(line: str) -> Sample:
        """Reads a line."""
        instruction, code, form, expected, before, *sources = line.rstrip("\n").split("\t")
        return Sample(
            instruction,
            code,
            form,
            int(expected, 16),
            Operand.parse(before),
            tuple(Operand.parse(source) for source in sources),
        )


def _constant(register: str, operand: Operand) -> str:
    if operand.bits == 1:
        return f"setp.ne.u32 {register}, {operand.value}, 0;\n"
    return f"mov.b{operand.bits} {register}, {operand.value:#x};\n"


def kernel(name: str, samples: Sequence[Sample]) -> str:
    """A kernel that stores the results of an instruction, eight bytes apart."""
    text = [f".visible .entry {name}(.param .u64 out) {{\n.reg .b64 %out;\n.reg .b32 %word;\n"]
    text.append("ld.param.u64 %out, [out];\n")
    for number, sample in enumerate(samples):
        operands = {"%d0": sample.before}
        operands |= {f"%{i}": source for i, source in enumerate(sample.sources)}
        text.append("{\n")
        for register, operand in operands.items():
            kind = "pred" if operand.bits == 1 else f"b{operand.bits}"
            text.append(f".reg .{kind} {register};\n")
            text.append(_constant(register, operand))
        text.append(sample.code.replace("$", "%") + "\n")
        if sample.before.bits == 1:
            text.append(f"selp.u32 %word, 1, 0, %d0;\nst.global.u32 [%out+{8 * number}], %word;\n")
        else:
            text.append(f"st.global.b{sample.before.bits} [%out+{8 * number}], %d0;\n")
        text.append("}\n")
    text.append("ret;\n}\n")
    return "".join(text)


class Registers:
    """The registers of straight-line code of which the value is known."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {"RZ": 0, "URZ": 0}

    def value(self, register: str, wide: bool) -> int | None:
        """The value of a register, or of it and its neighbour."""
        low = self._known.get(register)
        if not wide or low is None or register == "RZ":
            return low
        high = self._known.get(f"R{int(register[1:]) + 1}")
        return None if high is None else high << 32 | low

    def execute(self, instruction: str, encoding: int) -> None:
        """Keeps what one instruction does to registers.

        Args:
            instruction: as cuobjdump writes it.
            encoding: its lower 64 bits; an immediate is in the upper half of them.
        """
        plain = instruction.replace(".reuse", "")
        if zeros := _ZEROS.match(plain):
            for offset in range(1 if zeros[1] else 2):
                self._known[f"R{int(zeros[3]) + offset}"] = 0
        elif move := _MOVE.match(plain):
            source = move[2]
            if source.startswith(("R", "UR")):
                self._set(move[1], self._known.get(source))
            elif source.startswith("c["):
                self._set(move[1], None)
            else:
                self._set(move[1], encoding >> 32)
        else:
            written = re.match(r"(?:@!?U?P\d+ )?[\w.]+ (U?R)(\d+)", plain)
            # Which results take two registers is not looked at.
            for offset in range(2 if written else 0):
                self._known.pop(f"{written[1]}{int(written[2]) + offset}", None)  # type: ignore[index]

    def _set(self, register: str, value: int | None) -> None:
        if value is None:
            self._known.pop(register, None)
        else:
            self._known[register] = value


def stored(sass: str) -> Iterator[tuple[str, dict[int, int]]]:
    """What each kernel stores, as far as it is known: its name, and values by their offsets.

    Args:
        sass: what cuobjdump writes.
    """
    parts = _KERNEL.split(sass)
    for name, code in zip(parts[1::2], parts[2::2], strict=True):
        registers = Registers()
        found: dict[int, int] = {}
        for instruction, encoding in _LINE.findall(code):
            if instruction == "EXIT":
                break
            if "BRA" in instruction or "CALL" in instruction or "RET" in instruction:
                found.clear()
                break
            if store := _STORE.match(instruction.replace(".reuse", "")):
                value = registers.value(store[3], wide=store[1] == "64")
                if value is not None:
                    bits = 16 if store[1] == "U16" else 64
                    found[int(store[2] or "0", 16)] = value & ((1 << bits) - 1)
            elif not instruction.startswith("STG"):
                registers.execute(instruction, int(encoding, 16))
        yield name, found


def fold(
    groups: Mapping[str, Sequence[Sample]],
    ptxas: pathlib.Path,
    cuobjdump: pathlib.Path,
    folder: pathlib.Path,
) -> tuple[dict[str, dict[int, int]], set[str]]:
    """What ptxas computes.

    Args:
        groups: samples of one instruction each, by a name for the kernel.
        ptxas: the program.
        cuobjdump: the program.
        folder: for files.

    Returns:
        For each name the values by the numbers of the samples, and the names that ptxas refuses.

    Raises:
        subprocess.CalledProcessError: a program fails.
    """
    module, cubin = folder / "module.ptx", folder / "module.cubin"
    kernels = {name: kernel(name, samples) for name, samples in groups.items()}
    command = [str(ptxas), f"-arch={_TARGET}", "-O3", str(module), "-o", str(cubin)]
    module.write_text("".join((_MODULE, *kernels.values())), encoding="utf-8")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refused = set(_refused(kernels, done.stderr))
    if refused:
        accepted = [text for name, text in kernels.items() if name not in refused]
        module.write_text("".join((_MODULE, *accepted)), encoding="utf-8")
        subprocess.run(command, check=True)
    else:
        done.check_returncode()
    sass = subprocess.run(
        [cuobjdump, "-sass", cubin], check=True, capture_output=True, text=True
    ).stdout
    values = {
        name: {offset // 8: value for offset, value in found.items()}
        for name, found in stored(sass)
    }
    return values, refused


def _refused(kernels: Mapping[str, str], errors: str) -> Iterator[str]:
    """The kernels of a module that lines of ptxas' errors are about."""
    lines = [""] * _MODULE.count("\n")
    for name, text in kernels.items():
        lines += [name] * text.count("\n")
    for match in _ERROR.finditer(errors):
        yield lines[int(match[1]) - 1]


_NANS = {
    "f16": (0x7C00, 16),
    "bf16": (0x7F80, 16),
    "f32": (0x7F800000, 32),
    "f64": (0x7FF << 52, 64),
}


def same(form: str, one: int, other: int) -> bool:
    """Whether two results are the same bits, or any NaN in the same places.

    Args:
        form: the format of a sample.
        one: a result.
        other: another one.
    """
    infinity, bits = _NANS.get(form.removesuffix("x2"), (0, 0))
    for part in range(2 if form.endswith("x2") else 1):
        a, b = (value >> part * bits for value in (one, other))
        if bits:
            mask = (1 << bits) - 1
            a, b = a & mask, b & mask
            if all(value & (mask >> 1) > infinity for value in (a, b)):
                continue
        if a != b:
            return False
    return True


def differences(samples: Iterable[Sample], values: Mapping[int, int]) -> list[str]:
    """Where ptxas computes something else than a test expects, each as a line."""
    return [
        f"{sample.instruction} of ({', '.join(f'{source.value:#x}' for source in sample.sources)}): "
        f"ptxas says {values[number]:#x}, the test {sample.expected:#x}"
        for number, sample in enumerate(samples)
        if number in values and not same(sample.format, sample.expected, values[number])
    ]
