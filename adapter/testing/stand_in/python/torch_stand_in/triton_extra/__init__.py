"""What stands for `triton.language.extra.cuda`: the functions of CUDA's libdevice, for Triton's interpreter.

The stand-in has no compiler for Triton. Kernels run on the host with TRITON_INTERPRET=1, set before Triton is imported.
"""

from torch_stand_in.triton_extra import libdevice

__all__ = ["libdevice"]
