"""`torchada.utils.cpp_extension`, which is `torch.utils.cpp_extension`."""

import sys

import torch.utils.cpp_extension

sys.modules[__name__] = torch.utils.cpp_extension
