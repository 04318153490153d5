"""The programs that need small packages only, on the CUDA device; and how results are compared."""

from __future__ import annotations

import types

import torch
from absl.testing import absltest, parameterized

from tests.programs import harness, program

_INFINITY = float("inf")


class ToolsTest(parameterized.TestCase):
    @parameterized.parameters(
        "tools.accelerator",
        "tools.big_models",
        "tools.einops_layers",
        "tools.metrics",
        "tools.safetensors_files",
    )
    def test_program(self, name: str) -> None:
        found = program.load(name)
        self.assertEqual(
            program.too_large(found, program.compare(found, torch.device("cuda:0"))), []
        )


class ErrorTest(parameterized.TestCase):
    @parameterized.parameters(
        ([[1.0, 2.0], [4.0]], [[1.0, 2.0], [4.0]], 0.0),
        # Of the largest of all tensors.
        ([[1.0, 2.5], [4.0]], [[1.0, 2.0], [4.0]], 0.125),
        ([[1.0, _INFINITY]], [[1.0, _INFINITY]], 0.0),
        ([[1.0, _INFINITY]], [[1.0, -_INFINITY]], _INFINITY),
        ([[1.0, float("nan")]], [[1.0, 2.0]], _INFINITY),
        ([[1.0, 2.0]], [[1.0, float("nan")]], _INFINITY),
        ([[1.0, 0.0]], [[1.0, float("nan")]], _INFINITY),
        ([[1.0, 1.7976931348623157e308]], [[1.0, _INFINITY]], _INFINITY),
        ([[1.0, float("nan")]], [[1.0, float("nan")]], 0.0),
        ([[1.0, 2.0]], [[1.0, 2.0], [4.0]], _INFINITY),
        ([[1.0, 2.0, 3.0]], [[1.0, 2.0]], _INFINITY),
        ([[0.5]], [[0.0]], 0.5),
    )
    def test_of_numbers(
        self, found: list[list[float]], expected: list[list[float]], error: float
    ) -> None:
        pair = [
            [torch.tensor(row, dtype=torch.float64) for row in rows] for rows in (found, expected)
        ]
        self.assertEqual(program.error(*pair), error)

    def test_of_types(self) -> None:
        self.assertEqual(program.error([torch.ones(2)], [torch.ones(2).double()]), _INFINITY)

    @parameterized.parameters(complex("nan"), complex(0, _INFINITY))
    def test_of_complex_numbers_that_are_not_finite(self, number: complex) -> None:
        expected = [torch.tensor([1.0 + 1.0j, number])]
        self.assertEqual(program.error(expected, expected), 0.0)
        self.assertEqual(program.error([torch.tensor([1.0 + 1.0j, 0.0])], expected), _INFINITY)

    def test_numbers_that_are_not_finite_are_nothing_to_compare(self) -> None:
        lost = types.ModuleType("lost")
        vars(lost)["run"] = lambda place: {"outputs": [torch.tensor([float("nan")])]}
        with self.assertRaisesRegex(ValueError, "lost returned nothing to compare"):
            program.compare(lost, torch.device("cpu"))

    def test_a_loss_that_is_not_finite_ends_training(self) -> None:
        place = harness.Place(torch.device("cpu"), torch.float64)
        inputs = {"input": torch.full((1, 2), float("nan"))}
        with self.assertRaisesRegex(ValueError, "the loss is nan"):
            harness.train(place, lambda: torch.nn.Linear(2, 1), inputs, torch.sum)

    def test_what_a_program_is_held_to(self) -> None:
        own = types.ModuleType("own")
        vars(own)["TOLERANCES"] = {torch.float32: harness.Tolerance(1e-1, "coarse")}
        errors = {"float64": {"losses": 1e-8, "outputs": 1e-10}, "float32": {"losses": 2e-2}}
        self.assertEqual(
            program.too_large(own, errors), ["float64: losses differ by 1.0e-08, allowed is 1e-09"]
        )


if __name__ == "__main__":
    absltest.main()
