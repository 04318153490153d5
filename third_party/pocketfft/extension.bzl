"""Module extension that declares @pocketfft. Builds of the simulated device fetch it."""

load("//third_party/nvidia:extension.bzl", "pypi_repository")

# Among the wheels that carry the header, a small one. Nothing else of it is unpacked.
_MLX_CPU = struct(
    requirement = "mlx-cpu==0.32.4",
    sha256 = "0e0a24fa2ce8b6b94d2e6a90604e8813aa8e29fcb918bb2aa01cfb6d133d8cee",
    python_tag = "py3",
    folders = {"include": "mlx/include/mlx/3rdparty"},
)

def _pocketfft_impl(_module_ctx):
    pypi_repository(name = "pocketfft", packages = [json.encode(_MLX_CPU)])

pocketfft = module_extension(
    implementation = _pocketfft_impl,
    doc = "Declares @pocketfft.",
)
