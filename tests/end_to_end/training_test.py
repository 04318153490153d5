"""Models train on `cuda` as they do on the CPU: the same losses, step by step."""

from __future__ import annotations

import numpy as np
import torch
from absl.testing import absltest, parameterized

from tests.end_to_end import training

CPU = torch.device("cpu")
CUDA = torch.device("cuda", 0)
STEPS = 12


class TrainingTest(parameterized.TestCase):
    @parameterized.parameters(*training.TASKS)
    def test_losses_in_float32_are_the_cpu_s(self, name: str) -> None:
        task = training.TASKS[name]
        expected = training.train(task, STEPS, CPU)
        losses = training.train(task, STEPS, CUDA)
        np.testing.assert_allclose(losses, expected, rtol=1e-3, atol=1e-4)
        self.assertLess(float(np.mean(losses[-3:])), float(np.mean(losses[:3])))

    @parameterized.parameters(*training.TASKS)
    def test_losses_in_mixed_precision_are_near_the_cpu_s(self, name: str) -> None:
        task = training.TASKS[name]
        expected = training.train_mixed(task, STEPS, CPU, torch.bfloat16)
        losses = training.train_mixed(task, STEPS, CUDA, torch.float16)
        np.testing.assert_allclose(losses, expected, rtol=0.05, atol=0.02)

    @parameterized.parameters("mlp", "cnn")
    def test_a_step_in_a_cuda_graph_gives_the_same_losses(self, name: str) -> None:
        task = training.TASKS[name]
        expected = training.train(task, STEPS, CPU)
        losses = training.train_graphed(task, STEPS, CUDA)
        np.testing.assert_allclose(losses, expected, rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    absltest.main()
