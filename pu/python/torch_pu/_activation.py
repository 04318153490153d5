"""What `import torch_pu` does, and in which order."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import sys

NAME = "pu"
# PyTorch's own name of the device type, until somebody gives it one.
_UNNAMED = "privateuseone"


def activate() -> None:
    """Gives torch the device `pu`, once a process.

    Raises:
      ImportError: torch_cuda is missing, off or of another version, or another backend has taken the
        device type that PyTorch keeps for those outside of it.
    """
    if importlib.util.find_spec("torch_cuda") is None:
        raise ImportError(_missing("no torch_cuda"), name="torch_cuda")
    import torch
    import torch_cuda
    from torch.utils import backend_registration

    if torch._C._get_privateuse1_backend_name() == NAME:
        return
    _check(torch_cuda)
    from torch_pu import _announcement, _native

    native = _native.load()
    backend_registration.rename_privateuse1_backend(NAME)
    native.register()
    _put_modules()
    backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
    _teach()
    if os.environ.get("TORCH_PU_ANNOUNCE", "").lower() not in ("", "0", "false", "no", "off"):
        _announcement.announce(True)


def _missing(found: str) -> str:
    version = importlib.metadata.version("torch_pu")
    return (
        f"torch_pu is a name for the devices of torch_cuda: found {found}; needed torch_cuda {version}, active.\n"
        f"To fix it: python -m pip install torch_cuda=={version}"
    )


def _check(torch_cuda: object) -> None:
    import torch

    version = importlib.metadata.version("torch_pu")
    found = getattr(torch_cuda, "__version__", "of no version")
    if found != version:
        raise ImportError(_missing(f"torch_cuda {found}"), name="torch_cuda")
    if not torch_cuda.is_active():  # type: ignore[attr-defined]
        reason = torch_cuda.why_inactive()  # type: ignore[attr-defined]
        raise ImportError(
            f"torch_pu needs an active torch_cuda: it is off ({reason}).\n"
            "To see why: python -m torch_cuda doctor",
            name="torch_cuda",
        )
    taken = torch._C._get_privateuse1_backend_name()
    if taken != _UNNAMED:
        raise ImportError(
            f"torch_pu needs PyTorch's device type for backends outside of it: found that it is {taken!r} in this "
            "process. To fix it: import only one of the two"
        )


def _put_modules() -> None:
    import torch
    import torch_cuda._mirror as mirror

    from torch_pu import _backends, _pu

    torch._register_device_module(NAME, _pu)
    torch.pu1 = _pu  # type: ignore[attr-defined]
    sys.modules["torch.pu1"] = _pu
    amp = importlib.import_module("torch_pu.amp")
    _pu.amp = amp
    for name in (NAME, "pu1"):
        mirror.mirror(f"torch.{name}", "torch.cuda")
        for module in ("amp", "amp.autocast_mode", "amp.common", "amp.grad_scaler"):
            sys.modules[f"torch.{name}.{module}"] = amp
    torch.backends.pu = _backends  # type: ignore[attr-defined]
    sys.modules["torch.backends.pu"] = _backends
    mirror.mirror("torch.backends.pu", "torch.backends.cuda")


def _teach() -> None:
    """Tells the parts of torch that ask for a device's name about this one."""
    from torch_cuda._import_hook import after_import

    from torch_pu import _compile, _device_index, _distributed, _dlpack

    _device_index.accept_pu()
    _dlpack.name_pu()
    after_import("torch.distributed.distributed_c10d", _distributed.register)
    after_import("torch._dynamo.device_interface", _compile.register)
