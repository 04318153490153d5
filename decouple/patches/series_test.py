"""A series of patches on a tree, with the two examples of the RFC ("Unresolved questions").

The argument, where there is one, is a file at the top of the PyTorch sources.
"""

from __future__ import annotations

import io
import pathlib
import shutil
import subprocess
import sys
from contextlib import redirect_stdout

from absl.testing import absltest

from decouple import cli
from decouple.errors import DecoupleError
from decouple.patches import series
from decouple.patches.series import State

SOURCES = pathlib.Path(sys.argv.pop(1)).resolve().parent

_CMAKE = "caffe2/CMakeLists.txt"
_PYTHON = "torch/_dynamo/device_interface.py"

_KINETO = """\
Kineto needs cudart although the CPU stage is built without CUDA.

Upstream: RFC "CUDA code decoupling", unresolved questions, example 1
"""
_STREAM = """\
The CUDA half of _C is a module of its own, _CUDAC.

Upstream: RFC "CUDA code decoupling", unresolved questions, example 2
"""


def _diff(before: pathlib.Path, after: pathlib.Path, path: str) -> str:
    """What GNU diff says of a file of two trees."""
    done = subprocess.run(
        ["diff", "-u", "--label", f"a/{path}", "--label", f"b/{path}", before / path, after / path],
        check=False,  # 1: they differ
        capture_output=True,
        text=True,
    )
    return done.stdout


class SeriesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.tree = pathlib.Path(self.create_tempdir("tree").full_path)
        self.folder = pathlib.Path(self.create_tempdir("patches").full_path)
        for path in (_CMAKE, _PYTHON):
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SOURCES / path, self.tree / path)
        self.original = {path: (self.tree / path).read_text() for path in (_CMAKE, _PYTHON)}
        changed = pathlib.Path(self.create_tempdir("changed").full_path)
        shutil.copytree(self.tree, changed, dirs_exist_ok=True)
        self._edit(
            changed / _CMAKE,
            "target_link_libraries(torch_cpu PRIVATE flatbuffers)\n",
            "target_link_libraries(torch_cpu PRIVATE flatbuffers)\n"
            "if(USE_KINETO AND NOT MSVC AND NOT LIBKINETO_NOCUPTI)\n"
            "  find_package(CUDA REQUIRED)\n"
            "  target_link_libraries(torch_cpu PRIVATE ${CUDA_CUDART_LIBRARY})\n"
            "endif()\n",
        )
        self._edit(
            changed / _PYTHON,
            "from torch._C import _cuda_getCurrentRawStream",
            "from torch.cuda._CUDAC import _cuda_getCurrentRawStream",
        )
        for name, head, path in (
            ("kineto.patch", _KINETO, _CMAKE),
            ("stream.patch", _STREAM, _PYTHON),
        ):
            (self.folder / name).write_text(f"{head}\n{_diff(self.tree, changed, path)}")
        (self.folder / "series").write_text("# why\nkineto.patch\nstream.patch\n")
        self.changed = {path: (changed / path).read_text() for path in (_CMAKE, _PYTHON)}

    def _edit(self, file: pathlib.Path, old: str, new: str) -> None:
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1))

    def _texts(self) -> dict[str, str]:
        return {path: (self.tree / path).read_text() for path in (_CMAKE, _PYTHON)}

    def _states(self) -> list[State]:
        patches = series.read_series(self.folder / "series")
        return [standing.state for standing in series.standings(self.tree, patches)]

    def _command(self, action: str) -> tuple[int, str]:
        output = io.StringIO()
        with redirect_stdout(output):
            status = cli.main(
                ["patches", action, str(self.tree), "--series", str(self.folder / "series")]
            )
        return status, output.getvalue()

    def test_apply_and_reverse_give_the_tree_back(self) -> None:
        self.assertEqual(self._states(), [State.APPLIES, State.APPLIES])
        self.assertEqual(self._command("apply")[0], 0)
        self.assertEqual(self._texts(), self.changed)
        self.assertEqual(self._states(), [State.APPLIED, State.APPLIED])
        self.assertEqual(self._command("reverse")[0], 0)
        self.assertEqual(self._texts(), self.original)

    def test_apply_twice_is_apply_once(self) -> None:
        self._command("apply")
        _, output = self._command("apply")
        self.assertIn("applied 0 of 2 patches", output)
        self.assertEqual(self._texts(), self.changed)

    def test_a_patch_applies_where_lines_were_added_above(self) -> None:
        file = self.tree / _PYTHON
        file.write_text("# one more\n# and another\n" + file.read_text())
        self.assertEqual(self._states(), [State.APPLIES, State.APPLIES])
        self._command("apply")
        self.assertEqual(file.read_text(), "# one more\n# and another\n" + self.changed[_PYTHON])

    def test_a_patch_that_no_longer_applies_names_hunk_and_change(self) -> None:
        self._edit(
            self.tree / _PYTHON,
            "from torch._C import _cuda_getCurrentRawStream as get_cuda_stream",
            "from torch._C import _accelerator_getStream as get_cuda_stream",
        )
        status, output = self._command("status")
        self.assertEqual(status, 1)
        self.assertRegex(
            output, r"stream\.patch: torch/_dynamo/device_interface\.py:\d+: hunk 1 \(@@"
        )
        self.assertIn('expects "from torch._C import _cuda_getCurrentRawStream', output)
        self.assertIn('the tree has "from torch._C import _accelerator_getStream', output)

    def test_a_line_that_differs_by_its_blanks_is_named(self) -> None:
        line = "from torch._C import _cuda_getCurrentRawStream"
        self._edit(self.tree / _PYTHON, f"    {line}", f"        {line}")
        self.assertIn(f'the tree has "{line}', self._command("status")[1])

    def test_a_series_of_which_one_breaks_changes_nothing(self) -> None:
        self._edit(self.tree / _PYTHON, "_cuda_getCurrentRawStream as", "_other as")
        before = self._texts()
        with self.assertRaisesRegex(DecoupleError, "nothing was changed"):
            series.apply(self.tree, series.read_series(self.folder / "series"))
        self.assertEqual(self._texts(), before)

    def test_the_commit_that_broke_a_patch_is_named(self) -> None:
        def git(*arguments: str) -> None:
            identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
            subprocess.run(["git", "-C", self.tree, *identity, *arguments], check=True)

        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "first")
        self._edit(self.tree / _PYTHON, "_cuda_getCurrentRawStream as", "_other as")
        git("commit", "-qam", "Rename the stream getter")
        self.assertIn("Rename the stream getter", self._command("status")[1])

    def test_a_series_of_no_patch_is_fine(self) -> None:
        (self.folder / "series").write_text("# none\n")
        status, output = self._command("status")
        self.assertEqual(status, 0)
        self.assertIn("the series is empty", output)

    def test_a_patch_without_a_reason_is_refused(self) -> None:
        text = (self.folder / "stream.patch").read_text()
        (self.folder / "stream.patch").write_text(text[text.index("--- a/") :])
        with self.assertRaisesRegex(DecoupleError, "stream.patch:1: gives no reason"):
            series.read_series(self.folder / "series")

    def test_a_missing_patch_is_named_with_its_line(self) -> None:
        (self.folder / "stream.patch").unlink()
        with self.assertRaisesRegex(DecoupleError, "series:3: names stream.patch"):
            series.read_series(self.folder / "series")

    def test_what_git_refuses_is_refused_with_its_name(self) -> None:
        (self.tree.parent / "f").write_text("a\n")
        for text, problem in (
            ("only prose\n", "No valid patches"),
            ("Why\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n", "corrupt patch at line 6"),
            ("Why\n--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-a\n+b\n", "invalid path"),
        ):
            (self.folder / "stream.patch").write_text(text)
            with self.assertRaisesRegex(DecoupleError, f"^stream.patch: {problem}"):
                series.apply(self.tree, series.read_series(self.folder / "series"))

    def test_a_hunk_that_is_longer_than_its_header_says_is_refused(self) -> None:
        """git passes over what is too long: the patch would lose lines in silence."""
        hunk = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        other = hunk.replace("/f", "/g")
        for behind, line in (("+d\n", 8), ("-d\n", 8), (f" d\n{other}", 8), (f"{other}+d\n", 14)):
            (self.folder / "stream.patch").write_text(f"Why\n{hunk}{behind}")
            with self.assertRaisesRegex(DecoupleError, f"^stream.patch:{line}: .*longer than"):
                series.read_series(self.folder / "series")
        for behind in ("", "\n", other, "\\ No newline at end of file\n", "-- \n2.39.5\n"):
            (self.folder / "stream.patch").write_text(f"Why\n{hunk}{behind}")
            series.read_series(self.folder / "series")

    def test_patches_build_on_each_other_below_another_repository(self) -> None:
        """What one patch makes the next one changes; and a tree need not be a repository, though it may lie in one."""
        outer = self.tree.parent
        subprocess.run(["git", "init", "-q", outer], check=True)
        (self.folder / "a.patch").write_text(
            "Make\n--- /dev/null\n+++ b/new/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        )
        (self.folder / "b.patch").write_text(
            "Change\n--- a/new/f\n+++ b/new/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        )
        (self.folder / "series").write_text("a.patch\nb.patch\n")
        self.assertIn("applied 2 of 2 patches, 1 files changed", self._command("apply")[1])
        self.assertEqual((self.tree / "new/f").read_text(), "a\nc\n")
        self.assertEqual(self._states(), [State.APPLIED, State.APPLIED])
        self.assertIn("reversed 2 of 2", self._command("reverse")[1])
        self.assertFalse((self.tree / "new/f").exists())

    def test_what_stands_in_the_way_leaves_all_as_it_was(self) -> None:
        (self.folder / "stream.patch").write_text(
            "Make\n--- /dev/null\n+++ b/taken\n@@ -0,0 +1 @@\n+a\n"
        )
        (self.tree / "taken").touch()
        with self.assertRaisesRegex(DecoupleError, "^stream.patch: taken: already exists"):
            series.apply(self.tree, series.read_series(self.folder / "series"))
        self.assertEqual(self._texts(), self.original)


if __name__ == "__main__":
    absltest.main()
