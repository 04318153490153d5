"""Tests of cmake_finder."""

from __future__ import annotations

import re

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.lists import cmake_finder
from decouple.rules.load import TextRule

_RULES = [TextRule("device", re.compile("(?i:cuda)"))]


def _find(text: str) -> list[tuple[str, int, int, str]]:
    places = cmake_finder.find(text, _RULES, {"USE_CUDA"}, "CMakeLists.txt")
    return [(place.rule, place.first_line, place.last_line, place.text) for place in places]


class CmakeFinderTest(absltest.TestCase):
    def test_a_condition_on_the_device_takes_all_its_lines(self) -> None:
        text = "if(USE_CUDA)\n  set(a\n    cuda)\nelseif(B)\n  set(c d)\nendif()\n"
        self.assertEqual(_find(text), [(cmake_finder.GUARD, 1, 3, "if(USE_CUDA)")])

    def test_commands_outside_of_conditions_are_found_by_their_words(self) -> None:
        text = (
            "foreach(x a b)\n  list(APPEND x\n    CUDA::cudart)\nendforeach()\n# cuda\nset(a b)\n"
        )
        self.assertEqual(_find(text), [("device", 2, 3, "list(… CUDA::cudart …)")])

    def test_a_variable_of_configure_file_may_stand_for_commands(self) -> None:
        self.assertEqual(_find("@CONFIG@\nset(cuda 1)\n"), [("device", 2, 2, "set(… cuda …)")])

    def test_what_is_not_cmake_is_named_with_its_line(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^CMakeLists\.txt:2: "):
            _find("set(cuda 1)\nset(a\n")


if __name__ == "__main__":
    absltest.main()
