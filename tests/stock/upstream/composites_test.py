"""No operator that PyTorch makes of others launches a kernel of PyTorch's past the router.

    TORCH_CUDA_DEVICES=fake:2 python tests/stock/upstream/composites_test.py

Composites are not routed: what they call is. Some ask for a kernel by the device instead, which is machine code.
"""

from __future__ import annotations

import io
import unittest
from collections.abc import Callable

import arguments  # type: ignore[import-not-found]
import torch

_KEY = "CompositeImplicitAutograd"
# A file, and what ends the process with such arguments on the CPU, too.
_LEFT_OUT = frozenset({"aten::from_file", "aten::_batch_norm_impl_index_backward"})


def composites() -> list[tuple[str, Callable[..., object]]]:
    """All operators that are made of others, derivatives included."""

    def has(name: str) -> bool:
        return torch._C._dispatch_has_kernel_for_dispatch_key(name, _KEY) and name not in _LEFT_OUT

    return list(arguments.overloads(has))


class LaunchesTest(unittest.TestCase):
    """Calls with arguments made by schemas."""

    def setUp(self) -> None:
        torch.zeros(1, device="cuda")

    def test_composites_launch_nothing_of_pytorchs(self) -> None:
        profiles = arguments.profiles("cuda:0")
        whole = profiles["row of integers"]
        every = composites()
        self.assertGreater(len(every), 600)
        ran = set()
        for name, operator in every:
            for profile, make in profiles.items():
                for makes in ((make,), (make, whole), (whole, make)):
                    for number in (0, 1, 2):
                        try:
                            plain, named = arguments.given(
                                operator._schema,  # type: ignore[attr-defined]
                                makes,
                                number,
                                "cuda:0",
                            )
                            operator(*plain, **named)
                            torch.cuda.synchronize()
                            ran.add(name)
                        except (arguments.Unknown, NotImplementedError):
                            pass
                        except Exception as error:  # noqa: BLE001 - any but one
                            # Of all that follows, none would tell: the device is at fault from then on.
                            if "no kernel image" in str(error):
                                self.fail(
                                    f"{name} launches a kernel of PyTorch's ({profile}, {number})"
                                )
        print(f"{len(ran)} of {len(every)} composites ran; not {sorted(dict(every).keys() - ran)}")
        self.assertGreater(len(ran), 0.7 * len(every))


class SparseTest(unittest.TestCase):
    """Sparse tensors whose places are said to be in order and are looked at."""

    def test_a_coalesced_tensor_is_saved_and_loaded(self) -> None:
        wanted = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().coalesce()
        file = io.BytesIO()
        torch.save(wanted.cuda(), file)
        file.seek(0)
        found = torch.load(file)
        self.assertEqual((found.device.type, found.is_coalesced()), ("cuda", True))
        torch.testing.assert_close(found.to_dense().cpu(), wanted.to_dense())

    def test_order_is_checked(self) -> None:
        for places, error in [
            ([[0, 1], [1, 0]], None),
            ([[1, 0], [1, 0]], "cannot set is_coalesced to true if indices correspond"),
            ([[0, 0], [1, 1]], "cannot set is_coalesced to true if indices correspond"),
            ([[0, 1], [1, -1]], "negative"),
            ([[0, 1], [1, 5]], "inconsistent"),
        ]:
            for device in ("cpu", "cuda"):
                with self.subTest(places=places, device=device):
                    given = (torch.tensor(places, device=device), torch.ones(2, device=device))

                    def make(given: tuple[torch.Tensor, torch.Tensor] = given) -> torch.Tensor:
                        return torch.sparse_coo_tensor(
                            *given, (2, 2), is_coalesced=True, check_invariants=True
                        )

                    if error is None:
                        self.assertEqual(make().to_dense().tolist(), [[0, 1], [1, 0]])
                    else:
                        self.assertRaisesRegex(RuntimeError, error, make)


if __name__ == "__main__":
    unittest.main()
