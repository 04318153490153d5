"""Slices of the full build: which units, in which order, and what is said of one that fails."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import stat

from absl.testing import absltest

from upstream import build_full

BAZELW = """\
#!/bin/sh
echo "$*" >> calls
case "$1" in
  query) printf '//c10_cuda:b\\n//c10_cuda:a\\n//c10_cuda:c\\n' ;;
  build) case "$*" in *:c*) exit 1 ;; esac ;;
esac
"""


class BuildFullTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        bazelw = self.folder / "bazelw"
        bazelw.write_text(BAZELW, encoding="utf-8")
        bazelw.chmod(bazelw.stat().st_mode | stat.S_IXUSR)
        before = pathlib.Path.cwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = build_full.main(["--package", "c10_cuda", *arguments])
        return status, out.getvalue(), err.getvalue()

    def builds(self) -> list[str]:
        calls = (self.folder / "calls").read_text(encoding="utf-8").splitlines()
        return [call for call in calls if call.startswith("build")]

    def test_units_are_built_in_the_order_of_their_names(self) -> None:
        self.run_it("--size", "2", "--slices", "1")
        self.assertEqual(
            self.builds(), ["build --config=full --keep_going -- //c10_cuda:a //c10_cuda:b"]
        )

    def test_a_slice_that_fails_is_named_and_the_rest_goes_on(self) -> None:
        status, out, err = self.run_it("--size", "1")
        self.assertEqual(status, 1)
        self.assertLen(self.builds(), 3)
        self.assertIn("slice 2 of 3: built", out)
        self.assertIn("slice 3 of 3: FAILED", out)
        self.assertEqual(err, "not built: c10_cuda, slice 3 of 3\n")

    def test_all_good_is_success(self) -> None:
        self.assertEqual(self.run_it("--size", "2", "--slices", "1")[0], 0)

    def test_a_list_builds_nothing(self) -> None:
        status, out, _ = self.run_it("--list")
        self.assertEqual((status, self.builds()), (0, []))
        self.assertIn("slice 1 of 1: a, b, c", out)

    def test_options_after_two_dashes_are_bazel_s(self) -> None:
        self.run_it("--slices", "1", "--", "--jobs=1")
        self.assertIn("--keep_going --jobs=1 -- ", self.builds()[0])


if __name__ == "__main__":
    absltest.main()
