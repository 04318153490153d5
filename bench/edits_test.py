"""Tests of edits.py with a fake Bazel that compares files with what it saw last."""

from __future__ import annotations

import os
import pathlib
import stat
import sys

from absl.testing import absltest

from bench import edits

# Counts the .cu files that changed since its last call and reports that many compilations.
FAKE_BAZEL = """#!{python}
import json, pathlib, sys
if "--fail" in sys.argv:
    sys.exit("no such target")
if sys.argv[1] == "fetch":
    pathlib.Path("fetched").write_text(" ".join(sys.argv[2:]))
    sys.exit()
seen = pathlib.Path("seen.json")
before = json.loads(seen.read_text()) if seen.exists() else {{}}
now = {{str(path): path.read_text() for path in pathlib.Path("src").iterdir()}}
seen.write_text(json.dumps(now))
changed = [path for path in now if before.get(path) != now[path]]
data = [
    {{"mnemonic": "CudaCompile", "actionsExecuted": str(sum(p.endswith(".cu") for p in changed))}},
    {{"mnemonic": "Wheel", "actionsExecuted": str(int(bool(changed)))}},
    {{"mnemonic": "BazelWorkspaceStatusAction", "actionsExecuted": "1"}},
]
metrics = {{"actionSummary": {{"actionData": data}}, "timingMetrics": {{"wallTimeInMs": "1"}}}}
(events,) = (a.split("=")[1] for a in sys.argv if a.startswith("--build_event_json_file="))
pathlib.Path(events).write_text(json.dumps({{"buildMetrics": metrics}}))
"""


class EditsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.bazel = self.folder / "bazel"
        self.bazel.write_text(FAKE_BAZEL.format(python=sys.executable), encoding="utf-8")
        self.bazel.chmod(stat.S_IRWXU)
        (self.folder / "src").mkdir()
        self.unit = self.folder / "src" / "Fill.cu"
        self.module = self.folder / "src" / "__init__.py"
        self.unit.write_text("// fill\n", encoding="utf-8")
        self.module.write_text("# init\n", encoding="utf-8")

    def _builder(self, *options: str) -> edits.Builder:
        return edits.Builder([os.fspath(self.bazel)], self.folder, "//:wheel", options)

    def test_each_edit_is_built_alone(self) -> None:
        builder = self._builder()
        builder.build("everything")
        files = [("one .cu", self.unit), ("one Python file", self.module)]
        nothing, unit, module = edits.measure(builder, files, rounds=1)
        self.assertEqual((nothing.what, nothing.kinds["Wheel"]), ("nothing", 0))
        self.assertEqual((unit.compiled, unit.kinds["Wheel"]), (1, 1))
        self.assertEqual((module.compiled, module.kinds["Wheel"]), (0, 1))
        self.assertNotIn("BazelWorkspaceStatusAction", unit.kinds)

    def test_files_are_put_back(self) -> None:
        with edits.edited(self.unit):
            self.assertIn("torch_cuda_bench_edit", self.unit.read_text(encoding="utf-8"))
        self.assertEqual(self.unit.read_text(encoding="utf-8"), "// fill\n")

    def test_file_is_put_back_when_the_build_fails(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "no such target"), edits.edited(self.module):
            self._builder("--fail").build("one Python file")
        self.assertEqual(self.module.read_text(encoding="utf-8"), "# init\n")

    def test_a_repository_is_fetched_again(self) -> None:
        bazel = [os.fspath(self.bazel)]
        edits.fetch_again(bazel, self.folder, "@pytorch", ["--config=full"])
        said = (self.folder / "fetched").read_text(encoding="utf-8")
        self.assertEqual(said, "--force --repo=@pytorch --config=full")
        with self.assertRaisesRegex(RuntimeError, "no such target"):
            edits.fetch_again(bazel, self.folder, "@pytorch", ["--fail"])

    def test_edited_python_is_still_python(self) -> None:
        with edits.edited(self.module):
            compile(self.module.read_text(encoding="utf-8"), "edited", "exec")


if __name__ == "__main__":
    absltest.main()
