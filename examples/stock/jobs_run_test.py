"""Runs the jobs of docs/ci.md as they stand, in a repository with tests for CUDA: several GB from PyPI.

jobs_run_test.py WHEEL WHEEL [JobsRunTest.test_job_gitlab]

    ./bazelw run //examples/stock:jobs_run_test      with the settings that pip has outside of Bazel
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from absl.testing import absltest, parameterized

from examples.stock import jobs

WHEELS = [pathlib.Path(wheel).absolute() for wheel in sys.argv[1:3]]
del sys.argv[1:3]

_JOBS = jobs.read(jobs.PAGE.read_text(encoding="utf-8"))
# As repositories have them; nothing in it is for a simulated device.
_TESTS = """
import pytest
import torch

def train(device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
    inputs, model = torch.rand(32, 8).to(device), model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(5):
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_training_on_cuda_is_training():
    assert train("cuda") == pytest.approx(train("cpu"), rel=1e-4)

@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_streams_and_events():
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(torch.cuda.Stream()):
        begin.record()
        values = torch.arange(4.0, device="cuda").cumsum(0)
        end.record()
    end.synchronize()
    assert values.tolist() == [0, 1, 3, 6] and begin.elapsed_time(end) >= 0
"""


class JobsRunTest(parameterized.TestCase):
    @parameterized.named_parameters((job.service, job) for job in _JOBS)
    def test_job(self, job: jobs.Job) -> None:
        # Not where Bazel's tests write: a build that comes meanwhile clears the folders of `bazel run`.
        folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))
        repository = folder / "repository"
        (repository / "wheels").mkdir(parents=True)
        for wheel in WHEELS:
            shutil.copy(wheel, repository / "wheels")
        (repository / "test_model.py").write_text(_TESTS)
        environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "TORCH", "RUNFILES", "BAZEL", "TEST"))
        }
        environ |= {**job.environment, "HOME": str(folder), "TMPDIR": str(folder)}
        environ["PIP_PROGRESS_BAR"] = "off"
        environ["PATH"] = f"{self.python(folder / 'python')}{os.pathsep}{environ['PATH']}"
        said = "".join(self.run_script(script, repository, environ) for script in job.scripts)
        self.assertRegex(said, r"tried: +cuda:0 is cudasim")
        self.assertRegex(said, r"=+ 2 passed in ")

    def run_script(self, script: str, folder: pathlib.Path, environ: dict[str, str]) -> str:
        """Runs what a step has, as services do, and returns what it printed."""
        said = ""
        with subprocess.Popen(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=folder,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                said += line
        self.assertEqual(process.returncode, 0, script)
        return said

    def python(self, folder: pathlib.Path) -> str:
        """The folder of a Python of its own with pip, as services have it."""
        venv = [sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(venv, check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python3")]
        subprocess.run([*pip, "install", "-q", "pip"], check=True)
        return str(folder / "bin")


if __name__ == "__main__":
    absltest.main()
