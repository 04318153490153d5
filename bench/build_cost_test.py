"""Tests of the tables that build_cost.py prints."""

from __future__ import annotations

import pathlib

from absl.testing import absltest, parameterized

from bench import bazel_events, build_cost, edits
from upstream.units import count as upstream_units


class PackageTest(parameterized.TestCase):
    @parameterized.parameters(
        ("//aten_cuda/native:copy", "aten_cuda/native"),
        ("@@//c10_cuda:c10_cuda", "c10_cuda"),
        ("@@pytorch//:torchgen", "pytorch"),
    )
    def test_package_of_a_label(self, label: str, package: str) -> None:
        self.assertEqual(build_cost.package(label), package)


class ReportTest(absltest.TestCase):
    def test_units_and_the_rest_are_told_apart(self) -> None:
        processes = [
            bazel_events.Process("//c10_cuda:c10_cuda", "CppCompile", "a.o", 4.0),
            bazel_events.Process("//c10_cuda:c10_cuda", "CppCompile", "b.o", 2.0),
            bazel_events.Process("//c10_cuda:libc10_cuda.so", "CppLink", "l.so", 1.0),
            bazel_events.Process("//aten_cuda/native:fill", "CudaCompile", "c.o", 30.0),
        ]
        kinds = {
            "CppCompile": bazel_events.Kind(2, 3.0),
            "CppLink": bazel_events.Kind(1, 1.0),
            "CudaCompile": bazel_events.Kind(1, 30.0),
        }
        lines = build_cost.report(processes, bazel_events.Build(40.0, kinds)).splitlines()
        self.assertEqual(lines[2], "| aten_cuda/native | 1 | 30 | 30 | 0 |")
        self.assertEqual(lines[3], "| c10_cuda | 2 | 3 | 2 | 1 |")
        self.assertEqual(lines[4], "| **all** | 3 | 33 | 30 | 1 |")


class EditsTest(absltest.TestCase):
    def test_median_and_range_of_each_edit(self) -> None:
        kinds = {"CudaCompile": 1, "CppLink": 1, "Wheel": 1, "FileWrite": 0}
        results = [edits.Rebuild("one .cu", seconds, kinds) for seconds in (30.0, 50.0, 40.0)]
        results.append(edits.Rebuild("nothing", 1.0, {}))
        lines = build_cost.summarize_edits(results).splitlines()
        self.assertEqual(
            lines[2], "| one .cu | 1 | 1 CppLink, 1 CudaCompile, 1 Wheel | 40.0 (30.0 to 50.0) |"
        )
        self.assertEqual(lines[3], "| nothing | 0 | none | 1.0 (1.0 to 1.0) |")

    def test_upstream_is_summed_up(self) -> None:
        units = upstream_units.Units(1, 2, 3, 4, 5)
        self.assertIn("compiles 15 units", build_cost.summarize_upstream(units))


class BazelTest(absltest.TestCase):
    def test_settings_of_bazelw_are_those_of_its_output_bases(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        base = folder / "out-0123abcd" / "5678"
        self.assertEqual(build_cost.bazel_of(base), ["bazel", f"--output_base={base}"])
        (base / "server").mkdir(parents=True)
        (base / "server/cmdline").write_text("bazel(main)\0-Dbazelw.entry=fedc9876\0-Xmx1g\0")
        settings = folder / "bazelw-0123abcd-fedc9876.rc"
        self.assertEqual(
            build_cost.bazel_of(base),
            ["bazel", f"--bazelrc={settings}", f"--output_base={base}"],
        )


if __name__ == "__main__":
    absltest.main()
