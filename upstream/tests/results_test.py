"""How outcomes are read, and what a run is told about its list of failures."""

from __future__ import annotations

from absl.testing import absltest

from upstream.tests import results

PASS = results.Result("T.a", results.PASSED)
FAIL = results.Result("T.b", results.FAILED, "Could not run 'aten::x' with CUDA")
CRASH = results.Result("T.c", results.CRASHED, "the process ended")


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


class MergeTest(absltest.TestCase):
    def test_the_second_outcome_counts(self) -> None:
        again = results.Result("T.b", results.PASSED)
        self.assertEqual(results.merge([PASS, FAIL, CRASH], [again]), [PASS, again, CRASH])


class KnownTest(absltest.TestCase):
    def test_entries_of_the_file_alone_are_read(self) -> None:
        text = '[["a.py"]]\ntests = "T.*"\nbecause = "slow"\n[["b.py"]]\nbecause = "x"\n'
        self.assertEqual(results.read_known(text, "a.py"), [results.Known("T.*", "slow")])

    def test_entries_for_all_files_are_read_after_those_of_the_file(self) -> None:
        text = '[["*"]]\nbecause = "y"\noutside = true\n[["a.py"]]\nbecause = "x"\n'
        self.assertEqual(
            results.read_known(text, "a.py"),
            [results.Known("*", "x"), results.Known("*", "y", outside=True, general=True)],
        )

    def test_an_entry_needs_a_reason(self) -> None:
        with self.assertRaisesRegex(ValueError, "because"):
            results.read_known('[["a.py"]]\ntests = "T.a"\n', "a.py")


class JudgeTest(absltest.TestCase):
    def test_an_unlisted_failure_or_crash_is_unexpected(self) -> None:
        verdict = results.judge([PASS, FAIL, CRASH], [], complete=True)
        self.assertEqual(verdict.unexpected, (FAIL, CRASH))
        self.assertAlmostEqual(verdict.rate, 1 / 3)

    def test_a_listed_failure_is_not(self) -> None:
        known = [results.Known("*", "not in the profile", "Could not run")]
        verdict = results.judge([PASS, FAIL], known, complete=True)
        self.assertEqual((verdict.unexpected, verdict.known), ((), 1))

    def test_an_entry_does_not_cover_another_reason(self) -> None:
        known = [results.Known("*", "not in the profile", "wrong result")]
        self.assertEqual(results.judge([FAIL], known, complete=False).unexpected, (FAIL,))

    def test_an_entry_without_use_is_told_after_a_whole_run(self) -> None:
        known = [results.Known("T.gone", "was slow")]
        self.assertEqual(results.judge([PASS], known, complete=True).needless, tuple(known))
        self.assertEqual(results.judge([PASS], known, complete=False).needless, ())

    def test_an_entry_for_all_files_need_not_be_of_use_in_each(self) -> None:
        known = [results.Known("*", "not in the profile", general=True)]
        self.assertEqual(results.judge([PASS], known, complete=True).needless, ())

    def test_what_was_not_built_does_not_count(self) -> None:
        known = [results.Known("*", "not in the profile", "Could not run", outside=True)]
        verdict = results.judge([PASS, FAIL], known, complete=True)
        self.assertEqual((verdict.known, verdict.outside, verdict.rate), (0, 1, 1.0))

    def test_files_add_up(self) -> None:
        verdicts = [
            results.judge([PASS], [], complete=True),
            results.judge([PASS, FAIL, CRASH], [], complete=True),
        ]
        whole = results.total(verdicts)
        self.assertEqual((whole.passed, whole.unexpected), (2, (FAIL, CRASH)))
        self.assertAlmostEqual(whole.rate, 0.5)


if __name__ == "__main__":
    absltest.main()
