"""The tensor types of old: `torch.cuda.FloatTensor([1, 2])`, `x.type("torch.cuda.FloatTensor")`, `isinstance`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function_unary

from torch_cuda_adapter.runtime.journal import Journal

_TYPES = {
    "BFloat16Tensor": torch.bfloat16,
    "BoolTensor": torch.bool,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "DoubleTensor": torch.float64,
    "FloatTensor": torch.float32,
    "HalfTensor": torch.float16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "ShortTensor": torch.int16,
}
_PREFIX = "torch.cuda."


def change(namespace: ModuleType, own: str, journal: Journal) -> None:
    """Lets the types be those of the device's tensors.

    Args:
        namespace: the platform's counterpart of `torch.cuda`; where it has such types, they stay.
        own: the device's own name, which `Tensor.type` begins with.
        journal: puts everything back.
    """
    for name, dtype in _TYPES.items():
        if not hasattr(namespace, name):
            journal.set_attribute(
                torch.cuda,
                name,
                _LegacyType(name, (), {"dtype": dtype, "__module__": "torch.cuda"}),
            )
    original = torch.Tensor.type

    def type_(
        self: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **options: Any
    ) -> Any:
        """`Tensor.type`, which names and takes the types of the device."""
        if has_torch_function_unary(self):
            return handle_torch_function(
                torch.Tensor.type, (self,), self, dtype, non_blocking=non_blocking, **options
            )
        if isinstance(dtype, str) and dtype.startswith(_PREFIX):
            dtype = getattr(torch.cuda, dtype.removeprefix(_PREFIX), dtype)
        if isinstance(dtype, _LegacyType):
            return self.to("cuda", dtype.dtype, non_blocking=non_blocking)
        if dtype is None:
            return original(self).replace(f"torch.{own}.", _PREFIX)
        return original(self, dtype, non_blocking, **options)

    type_.__name__ = type_.__qualname__ = "type"
    journal.set_attribute(torch.Tensor, "type", type_)


class _LegacyType(type):
    """A type of old is no class: its instances are tensors of a dtype on the device."""

    dtype: torch.dtype
    is_cuda = True

    def __call__(cls, *args: Any) -> torch.Tensor:
        """A tensor of sizes, of a size, or of the values of a sequence or tensor."""
        if len(args) == 1 and not isinstance(args[0], int | torch.Size):
            return torch.as_tensor(args[0], dtype=cls.dtype).to("cuda")
        sizes = args[0] if args and isinstance(args[0], torch.Size) else args
        return torch.empty(tuple(sizes) or (0,), dtype=cls.dtype, device="cuda")

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, torch.Tensor) and instance.is_cuda and instance.dtype is cls.dtype
        )

    def __repr__(cls) -> str:
        return f"<class '{_PREFIX}{cls.__name__}'>"
