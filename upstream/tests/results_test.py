"""How outcomes are read, and what a run is told about its list of failures."""

from __future__ import annotations

import os
import pathlib
import tomllib
from collections.abc import Sequence
from unittest import mock

from absl.testing import absltest

from upstream.tests import recorder, results, runner, selection
from upstream.tests.outside import Outside

PASS = results.Result("T.a", results.PASSED)
LACK = "NotImplementedError: Could not run 'aten::{}' with arguments from the '{}' backend. This"
FAIL = results.Result("T.b", results.FAILED, LACK.format("tan.out", "CUDA"))
CRASH = results.Result("T.c", results.CRASHED, "the process ended")
NOTHING = Outside()


class RecordTest(absltest.TestCase):
    def test_a_test_without_an_outcome_crashed(self) -> None:
        lines = ['{"collected": 2}', '{"started": "T.a"}']
        (result,) = results.read_record(lines)
        self.assertEqual((result.test, result.outcome), ("T.a", results.CRASHED))

    def test_the_outcome_counts(self) -> None:
        lines = [
            '{"started": "T.a"}',
            '{"test": "T.a", "outcome": "failed", "reason": "no", "seconds": 1.5}',
        ]
        self.assertEqual(
            results.read_record(lines), [results.Result("T.a", results.FAILED, "no", 1.5)]
        )


class SliceTest(absltest.TestCase):
    def test_the_parts_of_a_slice_are_all_tests_once(self) -> None:
        names = [f"T.test_{number}" for number in range(1000)]
        self.assertEqual([name for name in names if recorder.in_slice(name, 1)], names)
        self.assertBetween(sum(recorder.in_slice(name, 10) for name in names), 60, 140)

    def test_every_file_has_a_slice(self) -> None:
        self.assertEqual(list(selection.SLICES), list(selection.SELECTED))
        self.assertEqual(list(selection.OUTSIDE_CORE_SLICES), list(selection.OUTSIDE_CORE))

    def test_every_file_and_part_of_one_has_a_record_of_its_own(self) -> None:
        records = {selection.record(name) for name in selection.EXPRESSIONS}
        self.assertLen(records, len(selection.EXPRESSIONS))


class DevicesTest(absltest.TestCase):
    def test_fake_is_as_many_as_a_file_asks_for(self) -> None:
        self.assertIn("count=1", selection.devices("fake", "test_nn.py"))
        self.assertIn("count=2", selection.devices("fake", "test_cuda_multigpu.py"))
        for written in ("fake:count=3", "sim", "/opt/vendor/libaccel_vendor.so"):
            self.assertEqual(selection.devices(written, "test_nn.py"), written)

    def test_entries_are_chosen_by_the_name(self) -> None:
        kinds = [selection.kind(chosen) for chosen in ("", "sim", "sim:2", "fake:memory=1G,sim")]
        self.assertEqual(kinds, ["", "", "", "fake"])

    def test_a_job_s_devices_are_told_to_its_process(self) -> None:
        path = pathlib.Path("record.jsonl")
        for chosen in ("fake:count=3", ""):
            job = runner.Job(path, "test_nn.py", "", path, 1, devices=chosen)
            told = runner.environment(job, path, path).get("TORCH_CUDA_DEVICES", "")
            self.assertEqual(told, chosen or os.environ.get("TORCH_CUDA_DEVICES", ""))

    def test_a_job_s_process_finds_llvm_from_its_own_folder(self) -> None:
        path = pathlib.Path("record.jsonl")
        job = runner.Job(path, "test_nn.py", "", path, 1)
        library = pathlib.Path(self.create_tempdir().full_path, "libllvmlite.so")
        with mock.patch.dict(os.environ, {"CUDASIM_LLVM": os.path.relpath(library)}):
            with self.assertRaises(FileNotFoundError):
                runner.environment(job, path, path)
            library.touch()
            told = runner.environment(job, path, path)["CUDASIM_LLVM"]
        self.assertEqual(pathlib.Path(told), library.resolve())


class MergeTest(absltest.TestCase):
    def test_a_failure_that_passes_alone_is_order_dependent(self) -> None:
        again = results.Result("T.b", results.PASSED)
        dependent = results.Result("T.b", results.ORDER_DEPENDENT, FAIL.reason)
        self.assertEqual(results.merge([PASS, FAIL], [again]), [PASS, dependent])

    def test_a_crash_stays_one(self) -> None:
        again = results.Result("T.c", results.PASSED)
        self.assertEqual(results.merge([PASS, CRASH], [again]), [PASS, CRASH])

    def test_the_second_failure_counts(self) -> None:
        again = results.Result("T.b", results.FAILED, "another")
        self.assertEqual(results.merge([PASS, FAIL], [again]), [PASS, again])


class KnownTest(absltest.TestCase):
    def test_entries_of_the_file_alone_are_read(self) -> None:
        text = '[["a.py"]]\ntests = "T.*"\nbecause = "slow"\n[["b.py"]]\nbecause = "x"\n'
        self.assertEqual(results.read_known(text, "a.py"), [results.Known("T.*", "slow")])

    def test_entries_are_of_the_devices_that_they_name(self) -> None:
        text = '[["a.py"]]\ntests = "T.*"\nbecause = "slow"\ndevices = "fake"\n'
        self.assertEqual(results.read_known(text, "a.py"), [])
        self.assertEqual(results.read_known(text, "a.py", "fake"), [results.Known("T.*", "slow")])

    def test_an_entry_needs_a_reason(self) -> None:
        with self.assertRaisesRegex(ValueError, "because"):
            results.read_known('[["a.py"]]\ntests = "T.a"\n', "a.py")

    def test_every_entry_is_for_a_file_that_is_run(self) -> None:
        text = (runner.HERE / "known.toml").read_text(encoding="utf-8")
        self.assertContainsSubset(tomllib.loads(text), selection.EXPRESSIONS)


class OutsideTest(absltest.TestCase):
    OUTSIDE = Outside.of(
        full={"CUDA": ["aten::cos.out", "aten::tan.out"], "SparseCUDA": ["aten::mm"]},
        built={"CUDA": ["aten::cos.out"], "SparseCUDA": []},
    )

    def test_what_upstream_has_and_the_build_has_not_is_outside(self) -> None:
        self.assertTrue(self.OUTSIDE.asked_for(LACK.format("tan.out", "CUDA")))
        self.assertTrue(
            self.OUTSIDE.asked_for('"x" does not match "' + LACK.format("mm", "SparseCUDA"))
        )

    def test_an_operator_that_the_profile_promises_is_not(self) -> None:
        self.assertFalse(self.OUTSIDE.asked_for(LACK.format("cos.out", "CUDA")))

    def test_an_operator_that_upstream_lacks_is_not(self) -> None:
        self.assertFalse(self.OUTSIDE.asked_for(LACK.format("mm", "CUDA")))
        self.assertFalse(self.OUTSIDE.asked_for(LACK.format("tan.out", "SparseCUDA")))

    def test_another_failure_is_not(self) -> None:
        self.assertFalse(self.OUTSIDE.asked_for("AssertionError: aten::tan.out"))


class JudgeTest(absltest.TestCase):
    def judge(
        self,
        found: list[results.Result],
        known: Sequence[results.Known] = (),
        complete: bool = True,
    ) -> results.Verdict:
        return results.judge(found, known, NOTHING, complete)

    def test_an_unlisted_failure_or_crash_is_unexpected(self) -> None:
        verdict = self.judge([PASS, FAIL, CRASH])
        self.assertEqual(verdict.unexpected, (FAIL, CRASH))
        self.assertAlmostEqual(verdict.rate, 1 / 3)

    def test_a_listed_failure_is_not(self) -> None:
        known = [results.Known("*", "too slow", "Could not run")]
        verdict = self.judge([PASS, FAIL], known)
        self.assertEqual((verdict.unexpected, verdict.known), ((), 1))

    def test_an_entry_does_not_cover_another_reason(self) -> None:
        known = [results.Known("*", "too slow", "wrong result")]
        self.assertEqual(self.judge([FAIL], known, complete=False).unexpected, (FAIL,))

    def test_an_entry_without_use_is_told_after_a_whole_run(self) -> None:
        known = [results.Known("T.gone", "was slow")]
        self.assertEqual(self.judge([PASS], known).needless, tuple(known))
        self.assertEqual(self.judge([PASS], known, complete=False).needless, ())

    def test_what_was_not_built_does_not_count(self) -> None:
        verdict = results.judge([PASS, FAIL], [], OutsideTest.OUTSIDE, complete=True)
        self.assertEqual((verdict.known, verdict.outside, verdict.rate), (0, 1, 1.0))

    def test_an_order_dependent_failure_is_neither_passed_nor_unexpected(self) -> None:
        dependent = results.Result("T.b", results.ORDER_DEPENDENT, "memory in use")
        verdict = self.judge([PASS, dependent])
        self.assertEqual(verdict.order_dependent, (dependent,))
        self.assertEqual((verdict.passed, verdict.unexpected, verdict.rate), (1, (), 0.5))

    def test_files_add_up(self) -> None:
        verdicts = [self.judge([PASS]), self.judge([PASS, FAIL, CRASH])]
        whole = results.total(verdicts)
        self.assertEqual((whole.passed, whole.unexpected), (2, (FAIL, CRASH)))
        self.assertAlmostEqual(whole.rate, 0.5)


if __name__ == "__main__":
    absltest.main()
