"""stand_in_wheel: the wheel torch_stand_in, for tests, and shipped by nobody."""

load("//config:version.bzl", "PROJECT_VERSION")
load("//tools/wheel:defs.bzl", "library_wheel", "plugin_wheel")

def stand_in_wheel(name, library, minor = None):
    """Declares the wheel for one torch.

    Args:
        name: string, name of the target.
        library: label, the library that is for this torch.
        minor: string, version of a PyTorch of PyPI, such as "2.15"; without, it is for @torch.
    """
    attributes = {
        "data": ["python/torch_stand_in/py.typed"] + native.glob(["python/torch_stand_in/moe/*.json"]),
        "distribution": "torch_stand_in",
        "files": {
            header: "torch_stand_in/" + header
            for header in native.glob(["include/**/*.h"])
        },
        "license_files": {"//:LICENSE": "LICENSE"},
        "native": {
            ":libstand_in.so": "torch_stand_in/lib/libstand_in.so",
            ":libstandjpeg.so": "torch_stand_in/lib/libstandjpeg.so",
            library: "torch_stand_in/lib/libtorch_stand_in.so",
        },
        "py_deps": [":torch_stand_in"],
        "strip_prefix": "adapter/testing/stand_in/python",
        "summary": "A PyTorch backend for tests: torch.stand_in.",
    }
    if minor == None:
        plugin_wheel(name = name, version = PROJECT_VERSION, **attributes)
    else:
        # A file of its own for each.
        library_wheel(
            name = name,
            requires = ["torch==%s.*" % minor],
            tags = ["manual"],
            version = "%s+torch%s" % (PROJECT_VERSION, minor),
            **attributes
        )
