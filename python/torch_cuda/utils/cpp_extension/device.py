"""`NewDeviceCppExtension`: a device that is described, with what can be built for it.

From one description come setuptools extensions and `load`, which compile the device's sources with
the device's compiler, all others with the host's, and link both into one library.
"""

from __future__ import annotations

from torch_cuda.utils.cpp_extension import loading
from torch_cuda.utils.cpp_extension.description import DeviceDescription
from torch_cuda.utils.cpp_extension.extension import describe_extension


class NewDeviceCppExtension(DeviceDescription):
    """Describes a device for which C++ extensions are built, and builds them.

    Takes the attributes of `DeviceDescription`. Calling it is the same as calling `extension`.
    """

    extension = describe_extension
    __call__ = describe_extension
    load = loading.load
    load_inline = loading.load_inline
