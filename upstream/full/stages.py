"""The stages of a full build: what each compiles, and the wheel that is linked when it is done.

An interrupted build has linked what its finished stages have. Each stage has the units of those before it.
"""

from dataclasses import dataclass

_PACKAGES = (
    "c10_cuda",
    "aten_cuda/core",
    "aten_cuda/blas",
    "aten_cuda/native",
    "aten_cuda/cudnn",
    "aten_cuda/codegen",
    "framework",
    "framework/inductor",
    "framework/jit",
    "python/csrc",
)
_UP_TO_128 = ("hdim32_", "hdim64_", "hdim96_", "hdim128_")


@dataclass(frozen=True)
class Stage:
    """A part of a full build.

    Attributes:
      name: what it adds, and what a user calls it.
      attention: the value of --//config:attention that its wheel is linked with.
      packages: packages all of whose units belong to it.
      kernels: what the names of attention's units begin with that belong to it; none in a stage of packages.
    """

    name: str
    attention: str
    packages: tuple[str, ...]
    kernels: tuple[str, ...] = ()

    def has(self, label: str) -> bool:
        """Whether a unit of its packages belongs to it.

        Args:
          label: a unit's label, such as `//aten_cuda/attention:transformers/cuda/flash_attn/flash_api.cpp`.
        """
        return not self.kernels or label.rpartition("/")[2].startswith(self.kernels)


_FLASH = tuple(f"flash_{way}_" for way in ("fwd", "fwd_split", "bwd"))

STAGES = (
    Stage("operators", "none", _PACKAGES),
    Stage(
        "memory-efficient",
        "memory-efficient",
        ("aten_cuda/attention",),
        ("sdp_utils", "attention.", "attention_backward.", "cutlass"),
    ),
    Stage(
        "flash-128",
        "flash-128",
        ("aten_cuda/attention",),
        ("flash_api", *(way + dimension for way in _FLASH for dimension in _UP_TO_128)),
    ),
    Stage("all", "all", ("aten_cuda/attention",), _FLASH),
)


def stages_until(name: str) -> tuple[Stage, ...]:
    """Returns the stages up to the one with this name.

    Raises:
      KeyError: there is no such stage.
    """
    names = [stage.name for stage in STAGES]
    if name not in names:
        raise KeyError(name)
    return STAGES[: names.index(name) + 1]
