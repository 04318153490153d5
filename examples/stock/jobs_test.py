"""The jobs of docs/ci.md are what their services take, and are for the torch of //examples:stock."""

from __future__ import annotations

import re
import subprocess

from absl.testing import absltest

from examples.stock import jobs, stock
from tools.stock_torch import environments


class JobsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.jobs = jobs.read(jobs.PAGE.read_text(encoding="utf-8"))

    def test_there_is_one_for_each_service(self) -> None:
        self.assertEqual([job.service for job in self.jobs], ["github", "gitlab"])
        self.assertEqual(
            [action.partition("@")[0] for action in self.jobs[0].actions],
            ["actions/checkout", "actions/setup-python"],
        )

    def test_they_ask_for_the_simulated_gpu(self) -> None:
        for job in self.jobs:
            # Words, not numbers: services take no other.
            self.assertEqual(job.environment, {"TORCH_CUDA_SIM": "1"})

    def test_they_install_the_same_torch_and_end_with_tests(self) -> None:
        for job in self.jobs:
            commands = "\n".join(job.scripts).splitlines()
            self.assertEqual(re.findall(r"torch==(\S+)", "\n".join(commands)), [stock.TORCH])
            self.assertEqual(
                commands[-2:], ["python -m torch_cuda_runtime doctor", "python -m pytest"]
            )

    def test_all_that_torch_needs_is_installed_where_it_comes_alone(self) -> None:
        (small,) = (job for job in self.jobs if "--no-deps" in job.scripts[0])
        # markupsafe and mpmath come with jinja2 and sympy.
        wanted = set(environments.PACKAGES) - {"markupsafe", "mpmath"}
        self.assertContainsSubset(wanted, small.scripts[0].split())

    def test_a_shell_reads_their_scripts(self) -> None:
        for job in self.jobs:
            for script in job.scripts:
                done = subprocess.run(
                    ["bash", "-n"], input=script, capture_output=True, text=True, check=False
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    absltest.main()
