"""`torchada.cuda`, which is `torch.cuda` with its modules."""

import importlib
import sys

for _name in ("", ".amp", ".nvtx", ".random"):
    sys.modules[f"{__name__}{_name}"] = importlib.import_module(f"torch.cuda{_name}")
