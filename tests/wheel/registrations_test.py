"""Every registration that the op profile promises is there when the wheel is loaded, and no other.

    registrations_test.py REGISTRATIONS.json PROFILE.json SOURCE...

REGISTRATIONS.json is what torchgen registers for the profile, by dispatch key. Some of PyTorch's
sources register operators by hand; each SOURCE that the profile takes in promises those.
"""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import ClassVar

from absl.testing import absltest, parameterized

KEYS = ("CUDA", "NestedTensorCUDA", "QuantizedCUDA", "SparseCUDA", "SparseCsrCUDA")

ARGUMENTS: list[str] = []

_LIST = """
import json, sys, torch
keys = sys.argv[1:]
registered = torch._C._dispatch_get_registrations_for_dispatch_key
print(json.dumps({key: registered(key) for key in keys}))
"""
_BLOCK = re.compile(
    r"TORCH_LIBRARY_IMPL\((\w+), (\w+), \w+\)\s*\{(.*?)^\}", re.DOTALL | re.MULTILINE
)
_NAME = re.compile(r'\bimpl\(\s*(?:TORCH_SELECTIVE_NAME\(\s*)?"([^"]+)"')


def _registered(**environment: str) -> dict[str, set[str]]:
    printed = subprocess.run(
        [sys.executable, "-c", _LIST, *KEYS],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {key: set(names) for key, names in json.loads(printed).items()}


def hand_registered(source: str, key: str) -> set[str]:
    """Finds what a C++ source registers by hand.

    Args:
        source: the source's text.
        key: a dispatch key.

    Returns:
        Operator names with namespace.
    """
    names = set()
    for namespace, block_key, body in _BLOCK.findall(source):
        if block_key == key:
            found = _NAME.findall(body)
            names |= {name if "::" in name else f"{namespace}::{name}" for name in found}
    return names


class HandRegisteredTest(absltest.TestCase):
    SOURCE = """
TORCH_LIBRARY_IMPL(quantized, CUDA, m) {
  m.impl(TORCH_SELECTIVE_NAME("quantized::one"), one);
  m.impl(TORCH_SELECTIVE_NAME("two"), TORCH_FN(two));
}
TORCH_LIBRARY_IMPL(quantized, QuantizedCUDA, m) {
  m.impl(TORCH_SELECTIVE_NAME("quantized::three"), three);
}
"""

    def test_names_of_one_key(self) -> None:
        found = hand_registered(self.SOURCE, "CUDA")
        self.assertEqual(found, {"quantized::one", "quantized::two"})

    def test_other_key(self) -> None:
        self.assertEqual(hand_registered(self.SOURCE, "QuantizedCUDA"), {"quantized::three"})


class RegistrationsTest(parameterized.TestCase):
    """Three sets of operators by dispatch key: the stock torch's, with the wheel, and promised."""

    stock: ClassVar[dict[str, set[str]]]
    loaded: ClassVar[dict[str, set[str]]]
    promised: ClassVar[dict[str, set[str]]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        registrations, profile, *sources = (pathlib.Path(path) for path in ARGUMENTS)
        cls.stock = _registered(TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        cls.loaded = _registered()
        generated = json.loads(registrations.read_text(encoding="utf-8"))
        taken = json.loads(profile.read_text(encoding="utf-8"))
        cls.promised = {key: set(generated[key]) for key in KEYS}
        cudnn = importlib.import_module("torch_cuda._build_info").CUDNN
        for source in sources:
            if "cudnn" in source.parts and not cudnn:
                continue
            ours = "aten" not in source.parts
            chosen = any(str(source).endswith(kernel) for kernel in taken["kernels"])
            if ours or taken["full"] or chosen:
                text = source.read_text(encoding="utf-8")
                for key in KEYS:
                    cls.promised[key] |= hand_registered(text, key)

    @parameterized.parameters(*KEYS)
    def test_promised_registrations_are_there(self, key: str) -> None:
        self.assertEqual(sorted(self.promised[key] - self.loaded[key]), [])

    @parameterized.parameters(*KEYS)
    def test_no_other_registration_was_added(self, key: str) -> None:
        added = self.loaded[key] - self.stock[key]
        self.assertEqual(sorted(added - self.promised[key]), [])

    @parameterized.parameters(*KEYS)
    def test_registrations_of_the_stock_torch_stay(self, key: str) -> None:
        self.assertEqual(sorted(self.stock[key] - self.loaded[key]), [])

    def test_the_profile_promises_something(self) -> None:
        self.assertIn("aten::add.Tensor", self.promised["CUDA"])


if __name__ == "__main__":
    # absltest has its own arguments; these are ours.
    ARGUMENTS, sys.argv = sys.argv[1:], sys.argv[:1]
    absltest.main()
