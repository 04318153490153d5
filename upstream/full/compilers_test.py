"""What compilers use, seen in a /proc of our own and in the real one."""

from __future__ import annotations

import csv
import os
import pathlib
import subprocess
import sys
import time
from unittest import mock

from absl.testing import absltest

from upstream.full import compilers, costs

_UNIT = "aten/src/ATen/native/cuda/AbsKernel.cu"


class CompilersTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.proc = pathlib.Path(self.create_tempdir().full_path)

    def put(
        self,
        pid: int,
        parent: int,
        ticks: int,
        megabytes: int,
        *arguments: str,
        works_in: str = "/cache/one/execroot/_main",
    ) -> None:
        folder = self.proc / str(pid)
        folder.mkdir(exist_ok=True)
        fields = ["S", str(parent), *["0"] * 9, str(ticks), "0", *["0"] * 6, str(pid)]
        (folder / "stat").write_text(f"{pid} (a name) with) {' '.join(fields)}\n", encoding="utf-8")
        (folder / "status").write_text(
            f"Name:\tx\nVmHWM:\t  {megabytes * 1024} kB\n", encoding="utf-8"
        )
        (folder / "cmdline").write_bytes("\0".join(arguments).encode() + b"\0")
        (folder / "cwd").unlink(missing_ok=True)
        (folder / "cwd").symlink_to(works_in)

    def test_children_count_for_the_unit_of_their_compiler(self) -> None:
        self.put(10, 1, 100, 50, "nvcc", "-c", f"external/_main~pytorch~pytorch/{_UNIT}")
        self.put(11, 10, 400, 900, "cicc", "/tmp/AbsKernel.ii")
        self.put(12, 1, 999, 999, "unrelated")
        watch = compilers.Watch(proc=self.proc)
        watch.look()
        self.put(11, 10, 700, 800, "cicc", "/tmp/AbsKernel.ii")
        watch.look()
        # It has ended, and is not yet waited for.
        self.put(11, 10, 700, 0, "")
        (self.proc / "11" / "status").write_text("Name:\tx\n", encoding="utf-8")
        watch.look()
        second = os.sysconf("SC_CLK_TCK")
        self.assertEqual(
            watch.costs, {_UNIT: compilers.Cost(cpu=800 / second, memory=900 * 1024 * 1024)}
        )

    def test_a_process_may_have_any_name(self) -> None:
        self.put(10, 1, 100, 50, "nvcc", "-c", f"external/_main~pytorch~pytorch/{_UNIT}")
        self.put(11, 1, 100, 50, "x")
        for file in ("stat", "status"):
            path = self.proc / "11" / file
            path.write_bytes(path.read_bytes().replace(b"x", b"\xff").replace(b"name", b"\xff"))
        watch = compilers.Watch(proc=self.proc)
        watch.look()
        self.assertEqual(list(watch.costs), [_UNIT])

    def test_compilers_of_another_clone_do_not_count(self) -> None:
        unit = f"external/_main~pytorch~pytorch/{_UNIT}"
        self.put(10, 1, 100, 50, "nvcc", "-c", unit)
        self.put(11, 1, 300, 50, "nvcc", "-c", unit, works_in="/cache/two/execroot/_main")
        watch = compilers.Watch("/cache/one", self.proc)
        watch.look()
        self.assertEqual(watch.costs[_UNIT].cpu, 100 / os.sysconf("SC_CLK_TCK"))

    def test_real_processes_are_seen(self) -> None:
        code = f"import time\nbuffer = bytearray(50_000_000)\nwhile True: pass  # {_UNIT}"
        arguments = [sys.executable, "-c", code, f"external/pytorch/{_UNIT}"]
        with subprocess.Popen(arguments) as process, compilers.Watch() as watch:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                if (cost := watch.costs.get(_UNIT)) and cost.cpu > 0 and cost.memory > 50_000_000:
                    break
                time.sleep(0.05)
            process.kill()
        self.assertGreater(watch.costs[_UNIT].cpu, 0)
        self.assertGreater(watch.costs[_UNIT].memory, 50_000_000)

    def test_a_table_keeps_what_was_not_measured_again(self) -> None:
        table = self.proc / "costs.tsv"
        costs.write(table, {_UNIT: compilers.Cost(12.34, 5_000_000)})
        costs.write(table, {"torch/csrc/cuda/Module.cpp": compilers.Cost(3.0, 1_000_000)})
        self.assertEqual(
            costs.known_seconds(table), {"cuda/AbsKernel.cu": 12.3, "cuda/Module.cpp": 3.0}
        )

    def test_a_table_that_cannot_be_written_is_still_there(self) -> None:
        table = self.proc / "costs.tsv"
        costs.write(table, {_UNIT: compilers.Cost(12.34, 5_000_000)})
        before = table.read_bytes()
        with (
            mock.patch.object(csv.DictWriter, "writerows", side_effect=OSError("disk is full")),
            self.assertRaises(OSError),
        ):
            costs.write(table, {_UNIT: compilers.Cost(1.0, 1)})
        self.assertEqual(table.read_bytes(), before)

    def test_a_link_to_a_table_stays_one(self) -> None:
        table, link = self.proc / "costs.tsv", self.proc / "link"
        link.symlink_to(table)
        costs.write(link, {_UNIT: compilers.Cost(12.34, 5_000_000)})
        self.assertTrue(link.is_symlink())
        self.assertEqual(costs.known_seconds(table), {"cuda/AbsKernel.cu": 12.3})

    def test_a_device_is_no_file(self) -> None:
        with self.assertRaisesRegex(ValueError, "/dev/null is no file"):
            costs.write(pathlib.Path(os.devnull), {})
        self.assertFalse(pathlib.Path(os.devnull).is_file())

    def test_another_file_is_no_table(self) -> None:
        other = self.proc / "other.tsv"
        other.write_text("name\tseconds\na\t1\n", encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "other.tsv is no table of costs"):
            costs.known_seconds(other)

    def test_labels_and_paths_have_the_same_names(self) -> None:
        self.assertEqual(
            costs.unit_of("//aten_cuda/native:cuda/AbsKernel.cu.nvcc"), costs.name_of(_UNIT)
        )


if __name__ == "__main__":
    absltest.main()
