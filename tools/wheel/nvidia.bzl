"""The NVIDIA packages on PyPI that carry the CUDA 12 libraries, for the wheel's extra and its loader.

Lower bounds are the versions of CUDA 12.4 (what PyTorch 2.6 itself is built and tested with), for NCCL
that of Debian's headers, which the build root has; upper bounds are the next major version of each
library, as NVIDIA keeps the ABI behind one soname.
"""

# soname -> (package on PyPI, version specifier)
_PACKAGES = {
    "libcublas.so.12": ("nvidia-cublas-cu12", ">=12.4.5.8,<13"),
    "libcublasLt.so.12": ("nvidia-cublas-cu12", ">=12.4.5.8,<13"),
    "libcudart.so.12": ("nvidia-cuda-runtime-cu12", ">=12.4.127,<13"),
    "libcudnn.so.9": ("nvidia-cudnn-cu12", ">=9.1.0.70,<10"),
    "libcufft.so.11": ("nvidia-cufft-cu12", ">=11.2.1.3,<12"),
    "libcupti.so.12": ("nvidia-cuda-cupti-cu12", ">=12.4.127,<13"),
    "libcurand.so.10": ("nvidia-curand-cu12", ">=10.3.5.147,<11"),
    "libcusolver.so.11": ("nvidia-cusolver-cu12", ">=11.6.1.9,<12"),
    "libcusparse.so.12": ("nvidia-cusparse-cu12", ">=12.3.1.170,<13"),
    "libnccl.so.2": ("nvidia-nccl-cu12", ">=2.22.3,<3"),
    "libnvToolsExt.so.1": ("nvidia-nvtx-cu12", ">=12.4.127,<13"),
    "libnvJitLink.so.12": ("nvidia-nvjitlink-cu12", ">=12.4.127,<13"),
    "libnvrtc.so.12": ("nvidia-cuda-nvrtc-cu12", ">=12.4.127,<13"),
}

# What libraries load or need beyond what ours name: cuSOLVER and cuSPARSE need nvJitLink.
_NEEDS = {
    "libcusolver.so.11": ["libcublas.so.12", "libcusparse.so.12", "libnvJitLink.so.12"],
    "libcusparse.so.12": ["libnvJitLink.so.12"],
}

def _closure(sonames):
    found = {}
    for soname in sonames:
        if soname not in _PACKAGES:
            fail("{} is not known to come from an nvidia-*-cu12 package; known are {}.".format(
                soname,
                ", ".join(sorted(_PACKAGES)),
            ))
        found[soname] = True

        # _NEEDS is closed over itself, so one step is enough.
        for needed in _NEEDS.get(soname, []):
            found[needed] = True
    return sorted(found)

def cuda_packages(sonames):
    """Maps CUDA libraries to the packages that carry them (`CUDA_LIBRARIES` of _build_info.py).

    Args:
        sonames: list of strings such as "libcudart.so.12".

    Returns:
        dict of soname to package name, with what these libraries need in turn.
    """
    return {soname: _PACKAGES[soname][0] for soname in _closure(sonames)}

def cuda_requirements(sonames):
    """Lists the requirements that bring CUDA libraries along (the wheel's extra `cuda`).

    Args:
        sonames: list of strings such as "libcudart.so.12".

    Returns:
        sorted list of PEP 508 strings, each package once.
    """
    return sorted({"".join(_PACKAGES[soname]): True for soname in _closure(sonames)}.keys())
