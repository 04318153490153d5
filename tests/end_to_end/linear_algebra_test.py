"""Linear algebra at its edges: matrices without numbers, and with numbers that are not finite, held against the CPU."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch import Tensor

EMPTY = [(0, 0), (0, 3), (3, 0), (2, 0, 0), (2, 0, 3), (2, 3, 0), (0, 3, 3)]
OF_ANY_SHAPE: dict[str, Callable[[Tensor], object]] = {
    "geqrf": torch.geqrf,
    "lstsq": lambda a: torch.linalg.lstsq(a, torch.ones_like(a)).solution,
    "lu_factor": torch.linalg.lu_factor,
    "qr": torch.linalg.qr,
    "qr_complete": lambda a: torch.linalg.qr(a, mode="complete"),
    "svd": torch.linalg.svd,
    "svdvals": torch.linalg.svdvals,
}


def tensors(value: object) -> list[Tensor]:
    """The tensors of a result, on the CPU."""
    return [value.cpu()] if isinstance(value, Tensor) else [item.cpu() for item in value]  # type: ignore[attr-defined]


def with_number(number: float, size: int, at: int) -> Tensor:
    """A well-conditioned matrix but for one number on its diagonal."""
    matrix = torch.eye(size, dtype=torch.float64) + 1.0 / size
    matrix[at, at] = number
    return matrix


class LinearAlgebraTest(parameterized.TestCase):
    @parameterized.product(shape=EMPTY, name=list(OF_ANY_SHAPE))
    def test_matrices_without_numbers(self, shape: tuple[int, ...], name: str) -> None:
        function = OF_ANY_SHAPE[name]
        matrix = torch.ones(shape)
        try:
            expected = tensors(function(matrix))
        except RuntimeError:
            with self.assertRaises(RuntimeError):
                function(matrix.cuda())
            return
        for found, other in zip(tensors(function(matrix.cuda())), expected, strict=True):
            torch.testing.assert_close(found, other)

    @parameterized.product(
        dtype=(torch.float32, torch.float64, torch.complex64, torch.complex128),
        size=(2, 3, 40),
        place=(0, 1, -1),
    )
    def test_infinity_makes_singular_values_nan(
        self, dtype: torch.dtype, size: int, place: int
    ) -> None:
        matrix = with_number(float("inf"), size, place).to(dtype)
        self.assertTrue(torch.linalg.svdvals(matrix.cuda()).isnan().all().item())

    @parameterized.parameters(
        torch.linalg.svd, torch.linalg.svdvals, torch.linalg.pinv, torch.linalg.matrix_rank
    )
    def test_nan_is_refused_as_on_the_cpu(self, function: Callable[[Tensor], object]) -> None:
        for size in (2, 3, 40):
            matrix = with_number(float("nan"), size, 1)
            for device in ("cpu", "cuda"):
                with self.assertRaisesRegex(torch.linalg.LinAlgError, "failed to converge"):
                    function(matrix.to(device))

    def test_a_batch_names_the_one_that_failed(self) -> None:
        batch = torch.stack([with_number(number, 3, 1) for number in (1.0, float("nan"), 2.0)])
        with self.assertRaisesRegex(torch.linalg.LinAlgError, r"\(Batch element 1\)"):
            torch.linalg.svd(batch.cuda())


if __name__ == "__main__":
    absltest.main()
