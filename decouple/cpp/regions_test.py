"""Tests of regions."""

from __future__ import annotations

from absl.testing import absltest

from decouple.cpp import regions
from decouple.cpp.regions import Macros, Side

_MACROS = Macros(frozenset({"USE_CUDA", "USE_CUDNN"}), frozenset({"AT_CUDNN_ENABLED"}))


def _strip(text: str) -> str:
    return regions.strip_device(text, _MACROS, "x.cpp")


class RegionsTest(absltest.TestCase):
    def test_branches_know_whose_they_are(self) -> None:
        text = "#ifdef USE_CUDA\na\n#elif defined(A)\nb\n#else\nc\n#endif\n"
        (region,) = regions.device_regions(text, _MACROS, "x.cpp")
        self.assertEqual(
            [(branch.side, branch.first_line, branch.last_line) for branch in region.branches],
            [(Side.DEVICE, 2, 2), (Side.CPU, 4, 4), (Side.CPU, 6, 6)],
        )

    def test_negation_turns_the_sides_round(self) -> None:
        for opening in ("#ifndef USE_CUDA", "#if !defined(USE_CUDA)", "#if not USE_CUDA"):
            with self.subTest(opening):
                (region,) = regions.device_regions(
                    f"{opening}\na\n#else\nb\n#endif\n", _MACROS, "x.cpp"
                )
                sides = [branch.side for branch in region.branches]
                self.assertEqual(sides, [Side.CPU, Side.DEVICE])

    def test_code_of_several_devices_is_of_both_sides(self) -> None:
        text = "#if defined(USE_CUDA) || defined(USE_ROCM)\na\n#endif\n"
        (region,) = regions.device_regions(text, _MACROS, "x.cpp")
        self.assertEqual(region.branches[0].side, Side.BOTH)

    def test_region_in_a_region_is_enclosed(self) -> None:
        text = (
            "#ifdef USE_CUDA\n#ifdef USE_CUDNN\n#endif\n#else\n#ifndef USE_CUDNN\n#endif\n#endif\n"
        )
        found = regions.device_regions(text, _MACROS, "x.cpp")
        self.assertEqual([region.enclosed for region in found], [False, True, False])

    def test_macro_that_the_file_defines_says_nothing_about_the_build(self) -> None:
        text = "#define USE_CUDA\n#ifdef USE_CUDA\n#endif\n"
        self.assertEmpty(regions.device_regions(text, _MACROS, "x.cpp"))
        self.assertEqual(_strip(text), text)

    def test_stripping_leaves_the_other_bytes_alone(self) -> None:
        cases = {
            "a\r\n#ifdef USE_CUDA\r\nb\r\n#endif\r\nc": "a\r\nc",
            "#ifdef USE_CUDA\na\n#else\nb\n#endif\n": "b\n",
            "#ifndef USE_CUDA\na\n#else\nb\n#endif // no\n": "a\n",
            "#ifdef A\n#ifdef USE_CUDA\na\n#endif\n#endif\n": "#ifdef A\n#endif\n",
            "#ifdef USE_CUDA\na\n#elif B // b\nb\n#else\nc\n#endif\n": "#if B // b\nb\n#else\nc\n#endif\n",
            "# if A\na\n# elif !USE_CUDA /* x */\nb\n# else\nc\n# endif\n": "# if A\na\n# else /* x */\nb\n# endif\n",
            "#if A\na\n#elif USE_CUDA\nb\n#endif\n": "#if A\na\n#endif\n",
            "#if A && \\\n  !defined(USE_CUDA) // x\na\n#endif\n": "#if A // x\na\n#endif\n",
            "#if 0\na\n#endif\n": "#if 0\na\n#endif\n",
            "#ifdef USE_CUDA\n#if AT_CUDNN_ENABLED()\n#endif\n#endif": "",
        }
        for text, expected in cases.items():
            with self.subTest(text):
                self.assertEqual(_strip(text), expected)

    def test_stripping_twice_changes_nothing_more(self) -> None:
        text = (
            "#if A || USE_CUDA\na\n#elif USE_CUDNN\nb\n#else\n#ifdef USE_CUDA\nc\n#endif\n#endif\n"
        )
        self.assertEqual(_strip(_strip(text)), _strip(text))

    def test_a_byte_order_mark_hides_no_directive(self) -> None:
        text = "\ufeff#ifdef USE_CUDA\na\n#endif\nb\n"
        (region,) = regions.device_regions(text, _MACROS, "x.cpp")
        self.assertEqual((region.first_line, region.last_line), (1, 3))
        self.assertEqual(_strip(text), "b\n")


if __name__ == "__main__":
    absltest.main()
