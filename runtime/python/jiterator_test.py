"""Functions of torch.cuda.jiterator, compiled for the host and called without torch."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import pathlib
import stat
from collections.abc import Sequence
from unittest import mock

from absl.testing import absltest
from torch_cuda_runtime._jiterator import _cache, _functions

_QUOTIENT = _functions.Function(
    source="template <typename T> T quotient(T x, T y, T z) { return x / y + z; }",
    name="quotient",
    by_reference=False,
    type="int",
    inputs=2,
    outputs=1,
    numbers=("double",),
)


def call(function: _functions.Function, *inputs: Sequence[int], plus: float = 0.0) -> list[int]:
    """Calls a function of integers, with the last input for all elements if it has one."""
    made = _functions.compiled(function)
    count = len(inputs[0])
    arrays = [(ctypes.c_int * len(one))(*one) for one in ([0] * count, *inputs)]
    steps = [int(len(one) > 1) for one in inputs]
    made(count, made.call([ctypes.addressof(one) for one in arrays], steps, [plus]))
    return list(arrays[0])


class FunctionsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cache = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.dict(os.environ, {"TORCH_CUDA_CACHE": str(self.cache)}))
        self.enter_context(mock.patch.dict(_functions._known, clear=True))
        self.folder = self.cache / "jiterator"

    def kept(self) -> list[pathlib.Path]:
        """What the cache has."""
        return sorted(self.folder.iterdir())

    def test_it_computes(self) -> None:
        self.assertEqual(call(_QUOTIENT, [7, -7, 9], [2], plus=1.9), [4, -2, 5])

    def test_it_is_compiled_once(self) -> None:
        call(_QUOTIENT, [7], [2])
        (kept,) = self.kept()
        self.assertEqual(stat.S_IMODE(self.folder.stat().st_mode), 0o700)
        _functions._known.clear()
        with mock.patch.object(_functions, "_compile", side_effect=AssertionError):
            self.assertEqual(call(_QUOTIENT, [7], [2]), [3])
        self.assertEqual(self.kept(), [kept])

    def test_another_type_is_another_function(self) -> None:
        call(_QUOTIENT, [7], [2])
        _functions.compiled(dataclasses.replace(_QUOTIENT, type="long long"))
        self.assertLen(self.kept(), 2)

    def test_a_damaged_library_is_made_again(self) -> None:
        call(_QUOTIENT, [7], [2])
        (kept,) = self.kept()
        whole = kept.read_bytes()
        for damaged in (b"", whole[:9000], whole.replace(b"quotient", b"quotienT")):
            # Another file: what is loaded stays as it is.
            kept.unlink()
            kept.write_bytes(damaged)
            _functions._known.clear()
            self.assertEqual(call(_QUOTIENT, [7], [2]), [3])
            self.assertEqual(kept.read_bytes()[:4], b"\x7fELF")

    def test_a_folder_that_others_write_to_is_not_used(self) -> None:
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.assertEqual(call(_QUOTIENT, [7], [2]), [3])
        self.assertEmpty(self.kept())

    def test_a_place_in_the_cache_that_is_taken(self) -> None:
        call(_QUOTIENT, [7], [2])
        (kept,) = self.kept()
        kept.unlink()
        kept.mkdir()
        _functions._known.clear()
        self.assertEqual(call(_QUOTIENT, [7], [2]), [3])
        self.assertEqual(self.kept(), [kept])

    def test_the_cache_has_a_limit(self) -> None:
        call(_QUOTIENT, [7], [2])
        (first,) = self.kept()
        others = [self.folder / f"{index}.so" for index in range(4)]
        for other in others:
            other.write_bytes(first.read_bytes())
        folder = self.folder / "temporary"
        folder.mkdir()
        for age, path in enumerate([others[2], first, others[0], others[3], others[1]]):
            os.utime(path, (age, age))
        _functions._known.clear()
        call(_QUOTIENT, [7], [2])  # used, and so the youngest
        size = first.stat().st_size
        with mock.patch.object(_cache, "LIMIT", 4 * size + size // 2):
            _functions.compiled(dataclasses.replace(_QUOTIENT, type="long long"))
        left = self.kept()
        self.assertContainsSubset([first, folder, others[1]], left)
        self.assertNoCommonElements([others[2], others[0], others[3]], left)
        self.assertLen(left, 4)

    def test_without_a_cache(self) -> None:
        self.cache.rmdir()
        self.cache.touch()
        self.assertEqual(call(_QUOTIENT, [7], [2]), [3])

    def test_faults_end_the_call(self) -> None:
        for inputs, message in (
            (([7, 1], [1, 0]), "divides an integer by zero"),
            (([-(1 << 31)], [-1]), "the least integer by -1"),
        ):
            with self.assertRaisesRegex(RuntimeError, message):
                call(_QUOTIENT, *inputs)
        with self.assertRaisesRegex(RuntimeError, "outside of"):
            call(_QUOTIENT, [7], [2], plus=1e10)
        self.assertEqual(call(_QUOTIENT, [7], [2], plus=1), [4])

    def test_a_source_that_does_not_compile(self) -> None:
        broken = dataclasses.replace(_QUOTIENT, source=_QUOTIENT.source.replace("z;", "missing;"))
        with self.assertRaisesRegex(
            RuntimeError, r"(?s)quotient does not compile with T = int.*the source:1.*missing"
        ):
            _functions.compiled(broken)
        self.assertEmpty(self.kept())

    def test_exceptions_do_not_compile(self) -> None:
        throws = dataclasses.replace(_QUOTIENT, source=_QUOTIENT.source.replace("return", "throw"))
        with self.assertRaisesRegex(RuntimeError, r"(?s)quotient does not compile.*exception"):
            _functions.compiled(throws)

    def test_a_function_that_ends_without_a_value(self) -> None:
        sometimes = dataclasses.replace(
            _QUOTIENT, source=_QUOTIENT.source.replace("return", "if (x > 0) return")
        )
        self.assertEqual(call(sometimes, [7], [2]), [3])
        with self.assertRaisesRegex(RuntimeError, "quotient ends without returning a value"):
            call(sometimes, [7, -7], [2])

    def test_fast_mathematics_are_not_used(self) -> None:
        is_nan = dataclasses.replace(
            _QUOTIENT,
            source="template <typename T> T quotient(T x, T y, T z) { return x != x; }",
            type="float",
        )
        with mock.patch.dict(os.environ, {"CXX": "g++ -ffast-math"}):
            made = _functions.compiled(is_nan)
        arrays = [(ctypes.c_float * 1)(number) for number in (7.0, float("nan"), 0.0)]
        made(1, made.call([ctypes.addressof(one) for one in arrays], [0, 0], [0.0]))
        self.assertEqual(arrays[0][0], 1.0)

    def test_a_name_that_is_none(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "needed an identifier"):
            _functions.compiled(dataclasses.replace(_QUOTIENT, name="f; int g"))

    def test_without_a_compiler(self) -> None:
        with (
            mock.patch.dict(os.environ, {"CXX": "/nowhere/g++"}),
            self.assertRaisesRegex(
                RuntimeError, r"(?s)found no compiler of C\+\+ \(CXX=/nowhere/g\+\+\).*To fix it"
            ),
        ):
            _functions.compiled(_QUOTIENT)

    def test_a_compiler_that_is_no_command(self) -> None:
        with (
            mock.patch.dict(os.environ, {"CXX": "g++ 'unbalanced"}),
            self.assertRaisesRegex(
                RuntimeError, r"(?s)found CXX=g\+\+ 'unbalanced, .*no closing quotation.*To fix it"
            ),
        ):
            _functions.compiled(_QUOTIENT)

    def test_a_compiler_that_makes_nothing(self) -> None:
        with (
            mock.patch.dict(os.environ, {"CXX": "echo"}),
            self.assertRaisesRegex(
                RuntimeError, r"found no library .* what echo makes of quotient .*set CXX to g\+\+"
            ),
        ):
            _functions.compiled(_QUOTIENT)
        self.assertEmpty(self.kept())


if __name__ == "__main__":
    absltest.main()
