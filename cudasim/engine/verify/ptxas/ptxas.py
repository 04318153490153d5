"""NVIDIA's assembler: whether it takes a module, and the bytes of variables that it writes."""

from __future__ import annotations

import concurrent.futures
import pathlib
import re
import struct
import subprocess
from collections.abc import Sequence

# Messages of one run: "ptxas FILE, line 5; error   : …".
_MESSAGE = re.compile(r"(?:line (\d+); )?(?:error|fatal) *: (.*)")


class Ptxas:
    """Runs ptxas.

    Args:
        program: its path.
        folder: to write to.
        options: of all runs.
    """

    def __init__(self, program: str, folder: str, options: Sequence[str]) -> None:
        self._program = str(pathlib.Path(program).absolute())
        self._folder = pathlib.Path(folder)
        self._options = options

    def run(self, text: str, name: str = "module") -> tuple[list[tuple[int, str]], bytes]:
        """Assembles one module.

        Args:
            text: of the module.
            name: of the files, for runs side by side.

        Returns:
            Line and words of each error, none where the module is taken; and the machine code.
        """
        source = self._folder / f"{name}.ptx"
        target = self._folder / f"{name}.cubin"
        source.write_text(text, encoding="utf-8")
        command = [self._program, *self._options, str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        source.unlink()
        if done.returncode == 0:
            code = target.read_bytes()
            target.unlink()
            return [], code
        output = done.stdout + done.stderr
        errors = [(int(line or 0), words) for line, words in _MESSAGE.findall(output)]
        return errors or [(0, output.strip() or f"status {done.returncode}")], b""

    def refusals(self, modules: Sequence[str]) -> list[str]:
        """What it says of each module.

        Args:
            modules: their texts.

        Returns:
            The first error of each, empty where the module is taken.
        """

        def first(number: int) -> str:
            errors, _ = self.run(modules[number], f"module{number}")
            return errors[0][1] if errors else ""

        with concurrent.futures.ThreadPoolExecutor() as executor:
            return list(executor.map(first, range(len(modules))))


def variables(cubin: bytes) -> dict[str, bytes]:
    """The initial bytes of the variables of a machine code file (ELF, 64 bits).

    Args:
        cubin: its bytes.

    Returns:
        By the variables' names.
    """
    (offset,) = struct.unpack_from("<Q", cubin, 40)
    size, count = struct.unpack_from("<HH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + i * size) for i in range(count)]
    result = {}
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, length = struct.unpack_from("<IBBHQQ", cubin, at)
            if info & 15 != 1 or not 0 < index < count:  # STT_OBJECT, and somewhere
                continue
            begin = names + name
            text = cubin[begin : cubin.index(b"\0", begin)].decode()
            of = sections[index]
            zeros = of[1] == 8  # SHT_NOBITS
            result[text] = bytes(length) if zeros else cubin[of[4] + value : of[4] + value + length]
    return result
