"""What becomes of tests that follow one that is interrupted, or that ends its process."""

from __future__ import annotations

import pathlib
import textwrap

from absl.testing import absltest

from upstream.tests import results, runner


class RunnerTest(absltest.TestCase):
    def outcomes(self, tests: str) -> dict[str, str]:
        """Runs a file of tests; each may take a second."""
        folder = pathlib.Path(self.create_tempdir().full_path)
        file = folder / "test_of_upstream.py"
        file.write_text(textwrap.dedent(tests), encoding="utf-8")
        job = runner.Job(file, file.name, "", folder / "record.jsonl", seconds=1)
        return {result.test: result.outcome for result in runner.run_file(job, job.record)}

    def test_no_test_runs_beside_the_threads_of_one_that_was_interrupted(self) -> None:
        outcomes = self.outcomes("""
            import threading
            import time

            class TestT:
                def test_1(self):
                    pass

                def test_2(self):
                    threading.Thread(target=time.sleep, args=(1000,)).start()
                    time.sleep(1000)

                def test_3(self):
                    assert threading.active_count() == 1
        """)
        expected = {
            "TestT.test_1": results.PASSED,
            "TestT.test_2": results.FAILED,
            "TestT.test_3": results.PASSED,
        }
        self.assertEqual(outcomes, expected)

    def test_a_crash_takes_no_other_test_along(self) -> None:
        outcomes = self.outcomes("""
            import os

            class TestT:
                def test_1(self):
                    os.abort()

                def test_2(self):
                    pass
        """)
        expected = {"TestT.test_1": results.CRASHED, "TestT.test_2": results.PASSED}
        self.assertEqual(outcomes, expected)


if __name__ == "__main__":
    absltest.main()
