"""What `import torch_pu` does, and in which order."""

from __future__ import annotations

import importlib
import os
import sys

NAME = "pu"
# PyTorch's own name of the device type, until somebody gives it one.
_UNNAMED = "privateuseone"


def activate() -> None:
    """Gives torch the device `pu`, once a process.

    Raises:
      ImportError: torch has no CUDA or is of a version that there is no library for, torch_cuda is off or of
        another version, or another backend has taken the device type that PyTorch keeps for those outside of it.
    """
    import torch
    from torch.utils import backend_registration

    if torch._C._get_privateuse1_backend_name() == NAME:
        return
    from torch_pu import _announcement, _library, _native

    library = _library.choose()
    _check_free()
    native = _native.load(library)
    backend_registration.rename_privateuse1_backend(NAME)
    native.register()
    _put_modules()
    backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
    _teach()
    if os.environ.get("TORCH_PU_ANNOUNCE", "").lower() not in ("", "0", "false", "no", "off"):
        _announcement.announce(True)


def _check_free() -> None:
    import torch

    taken = torch._C._get_privateuse1_backend_name()
    if taken != _UNNAMED:
        raise ImportError(
            f"torch_pu needs PyTorch's device type for backends outside of it: found that it is {taken!r} in this "
            "process. To fix it: import only one of the two"
        )


def _put_modules() -> None:
    import torch

    from torch_pu import _backends, _mirror, _pu

    torch._register_device_module(NAME, _pu)
    torch.pu1 = _pu  # type: ignore[attr-defined]
    sys.modules["torch.pu1"] = _pu
    amp = importlib.import_module("torch_pu.amp")
    _pu.amp = amp
    for name in (NAME, "pu1"):
        _mirror.mirror(f"torch.{name}", "torch.cuda")
        for module in ("amp", "amp.autocast_mode", "amp.common", "amp.grad_scaler"):
            sys.modules[f"torch.{name}.{module}"] = amp
    torch.backends.pu = _backends  # type: ignore[attr-defined]
    sys.modules["torch.backends.pu"] = _backends
    _mirror.mirror("torch.backends.pu", "torch.backends.cuda")


def _teach() -> None:
    """Tells the parts of torch that ask for a device's name about this one."""
    from torch_pu import _compile, _device_index, _distributed, _dlpack
    from torch_pu._import_hook import after_import

    _device_index.accept_pu()
    _dlpack.name_pu()
    after_import("torch.distributed.distributed_c10d", _distributed.register)
    after_import("torch._dynamo.device_interface", _compile.register)
