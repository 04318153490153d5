"""What the tests of instructions expect is what ptxas computes, wherever it computes it.

ptxas_test.py INSTRUCTIONS_TEST PTXAS CUOBJDUMP
"""

from __future__ import annotations

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent import futures
from typing import ClassVar

from absl.testing import absltest

from cudasim.engine.testing.folding import folding

ARGUMENTS: list[pathlib.Path] = []

_KERNELS_A_MODULE = 200

# What newer targets or newer versions of PTX have: this ptxas refuses it, and NVIDIA's newest folds none of it.
_NEWER = re.compile(
    r"^(min|max)\S*\.f32 \$d0, \$0, \$1, \$2;|f32x2|^(add|sub|fma)\.\S*f32\.b?f16 |e\dm\dx2|ue8m0|\.tf32\.|[us]8x4"
)

# Less would mean that it is not ptxas that is asked any more.
_LEAST_FOLDED = 1500


class FoldingTest(absltest.TestCase):
    def test_constants_are_followed_to_where_they_are_stored(self) -> None:
        sass = """
        Function : k0
        /*0010*/  MOV R5, 0x7 ;                       /* 0x0000000700057802 */
        /*0020*/  IMAD.MOV.U32 R6, RZ, RZ, -0x1 ;     /* 0xffffffffff067424 */
        /*0030*/  HFMA2.MMA R7, -RZ, RZ, 0, 0.001 ;   /* 0x00001405ff077435 */
        /*0040*/  IMAD.MOV.U32 R8, RZ, RZ, R5 ;       /* 0x000000ffff087224 */
        /*0050*/  STG.E [R2.64], R5 ;                 /* 0x0000000002007986 */
        /*0060*/  STG.E.64 [R2.64+0x8], R6 ;          /* 0x0000000002007986 */
        /*0070*/  STG.E [R2.64+0x10], R8 ;            /* 0x0000000002007986 */
        /*0080*/  FADD R8, R8, 1 ;                    /* 0x0000000002007986 */
        /*0090*/  STG.E [R2.64+0x18], R8 ;            /* 0x0000000002007986 */
        /*00a0*/  STG.E.U16 [R2.64+0x20], RZ ;        /* 0x0000000002007986 */
        /*00b0*/  EXIT ;                              /* 0x000000000000794d */
        """
        expected = {0: 7, 8: 0x1405FFFFFFFF, 16: 7, 32: 0}
        self.assertEqual(list(folding.stored(sass)), [("k0", expected)])

    def test_code_with_branches_says_nothing(self) -> None:
        sass = """
        Function : k0
        /*0010*/  STG.E [R2.64], RZ ;   /* 0x0000000002007986 */
        /*0020*/  @P0 BRA 0x60 ;        /* 0x0000000002007986 */
        """
        self.assertEqual(list(folding.stored(sass)), [("k0", {})])

    def test_any_nan_is_the_same(self) -> None:
        self.assertTrue(folding.same("f32", 0x7FC00000, 0xFFFFFFFF))
        self.assertFalse(folding.same("f32", 0x7FC00000, 0x7F800000))
        self.assertFalse(folding.same("b", 0x7FC00000, 0xFFFFFFFF))
        self.assertTrue(folding.same("f16x2", 0x7FFF3C00, 0x7E003C00))
        self.assertFalse(folding.same("f16x2", 0x7FFF3C00, 0x7E003C01))


class PtxasTest(absltest.TestCase):
    samples: ClassVar[dict[str, list[folding.Sample]]]
    values: ClassVar[dict[str, dict[int, int]]]
    refused: ClassVar[list[str]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        program, ptxas, cuobjdump = (path.resolve() for path in ARGUMENTS[:3])
        folder = pathlib.Path(tempfile.mkdtemp(dir=absltest.TEST_TMPDIR.value))
        record = folder / "samples"
        subprocess.run(
            [program],
            env={**os.environ, "CUDASIM_SAMPLES": str(record)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        groups: dict[tuple[str, str], list[folding.Sample]] = collections.defaultdict(list)
        for line in record.read_text(encoding="utf-8").splitlines():
            sample = folding.Sample.parse(line)
            groups[sample.instruction, sample.code].append(sample)
        cls.samples = {f"k{number}": samples for number, samples in enumerate(groups.values())}
        cls.values = {}
        refused: set[str] = set()
        with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            pending = []
            names = list(cls.samples)
            for start in range(0, len(names), _KERNELS_A_MODULE):
                part = {
                    name: cls.samples[name] for name in names[start : start + _KERNELS_A_MODULE]
                }
                where = folder / str(start)
                where.mkdir()
                pending.append(pool.submit(folding.fold, part, ptxas, cuobjdump, where))
            for job in pending:
                values, names_refused = job.result()
                cls.values |= values
                refused |= names_refused
        cls.refused = sorted(
            {
                sample.instruction
                for sample in (cls.samples[name][0] for name in refused)
                if not _NEWER.search(sample.code)
            }
        )

    def test_ptxas_computes_what_is_expected(self) -> None:
        for name, samples in self.samples.items():
            with self.subTest(samples[0].instruction):
                wrong = folding.differences(samples, self.values.get(name, {}))
                self.assertEqual(wrong, [])

    def test_many_instructions_are_folded(self) -> None:
        folded = {self.samples[name][0].instruction for name, of in self.values.items() if of}
        print(f"{len(folded)} instructions are folded, {len(self.refused)} are refused")
        self.assertGreater(len(folded), _LEAST_FOLDED)

    def test_ptxas_takes_all_that_is_tested(self) -> None:
        self.assertEqual(self.refused, [])


if __name__ == "__main__":
    ARGUMENTS = [pathlib.Path(argument) for argument in sys.argv[1:4]]
    absltest.main(argv=sys.argv[:1])
