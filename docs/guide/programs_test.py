"""The programs in the guide run on a device that has the required functions only, chapter by chapter."""

from __future__ import annotations

import contextlib
import io
import runpy

import torch
from absl.testing import absltest, parameterized

from docs.guide import guide


def programs(chapter: str) -> list[str]:
    """The blocks of a chapter that are to be run, in order."""
    return [block.text for block in guide.blocks(chapter) if block.what == ("run",)]


class ProgramsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        (name, name) for name, text in guide.chapters("en").items() if programs(text)
    )
    def test_a_chapter_runs(self, name: str) -> None:
        self.assertEqual(torch.cuda.get_device_name(0), "Fake device")
        text = "\n".join(programs(guide.chapters("en")[name]))
        script = self.create_tempfile(f"{name}.py", text).full_path
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(script, run_name="__main__")

    def test_there_are_some(self) -> None:
        self.assertGreater(sum(len(programs(text)) for text in guide.chapters("en").values()), 4)


if __name__ == "__main__":
    absltest.main()
