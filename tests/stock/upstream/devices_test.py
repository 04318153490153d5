"""Single numbers of another device: where PyTorch takes them, and where it does not.

TORCH_CUDA_DEVICES=fake:2 python tests/stock/upstream/devices_test.py
"""

from __future__ import annotations

import unittest
from collections.abc import Callable, Mapping

import devices_cases  # type: ignore[import-not-found]
import torch
import unrouted  # type: ignore[import-not-found]

_DEVICES = "same device"


def _upstream() -> Mapping[str, Callable[[], object]]:
    calls: Mapping[str, Callable[[], object]] = devices_cases.cases("cuda:0", "cuda:1")
    return calls


class DevicesTest(unittest.TestCase):
    """Each case, by PyTorch's own CUDA code and by ours."""

    upstream: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.upstream = unrouted.answers(_upstream, devices_cases.said)

    def test_what_pytorch_takes_is_taken_and_is_what_one_device_gives(self) -> None:
        taken = [name for name, said in self.upstream.items() if not said]
        self.assertGreater(len(taken), 20)
        calls = devices_cases.cases("cuda:0", "cuda:1")
        alone = devices_cases.cases("cuda:0", "cuda:0")
        for name in taken:
            with self.subTest(name=name):
                found, wanted = calls[name](), alone[name]()
                if name not in devices_cases.RANDOM:
                    torch.testing.assert_close(found, wanted, check_device=False)

    def test_what_pytorch_refuses_is_refused(self) -> None:
        refused = {name: said for name, said in self.upstream.items() if said}
        self.assertGreater(len(refused), 30)
        calls = devices_cases.cases("cuda:0", "cuda:1")
        for name, said in refused.items():
            with self.subTest(name=name, upstream=said):
                found = devices_cases.said(calls[name])
                self.assertNotEqual(found, "")
                if _DEVICES in said:
                    self.assertIn(_DEVICES, found)


if __name__ == "__main__":
    unittest.main()
