"""Module extension that declares, for each PyTorch of PyPI in versions.bzl, such as 2.15:

`@stock_torch_2_15//:headers`: what operators for it are compiled against. Its libraries are not fetched: a program has
them when it loads what is compiled here.
`@stock_torchgen_2_15//:torchgen`: its torchgen with its native_functions.yaml, by which //router/codegen writes a
vendor's operators for it.
"""

load("//tools/remote_wheel:remote_wheel.bzl", "fetch_remote_wheel")
load(":versions.bzl", "STOCK_TORCH")

# What ATen, c10 and torch's own headers include.
_FOLDERS = ["ATen", "c10", "caffe2", "torch"]

def _stock_torch_repository_impl(repository_ctx):
    fetch_remote_wheel(
        repository_ctx,
        "torch==" + repository_ctx.attr.version,
        include = ["torch/include/%s/**" % folder for folder in _FOLDERS],
        record_sha256 = repository_ctx.attr.record_sha256,
        strip_prefix = "torch",
    )
    repository_ctx.symlink(Label("//third_party/stock_torch:stock_torch.BUILD.bazel"), "BUILD.bazel")

def _stock_torchgen_repository_impl(repository_ctx):
    fetch_remote_wheel(
        repository_ctx,
        "torch==" + repository_ctx.attr.version,
        include = ["torchgen/**"],
        record_sha256 = repository_ctx.attr.record_sha256,
    )
    repository_ctx.symlink(Label("//third_party/stock_torch:stock_torchgen.BUILD.bazel"), "BUILD.bazel")

_WHEEL = {
    "record_sha256": attr.string(
        doc = "SHA-256 of the wheel's dist-info/RECORD.",
        mandatory = True,
    ),
    "version": attr.string(
        doc = "Of the package torch.",
        mandatory = True,
    ),
}

stock_torch_repository = repository_rule(
    implementation = _stock_torch_repository_impl,
    attrs = _WHEEL,
    doc = "Fetches the headers of a PyTorch, some 15 MB.",
)

stock_torchgen_repository = repository_rule(
    implementation = _stock_torchgen_repository_impl,
    attrs = _WHEEL,
    doc = "Fetches the torchgen of a PyTorch, some 3 MB.",
)

def _stock_torch_impl(_module_ctx):
    for minor, torch in STOCK_TORCH.items():
        for prefix, repository in {
            "stock_torch_": stock_torch_repository,
            "stock_torchgen_": stock_torchgen_repository,
        }.items():
            repository(
                name = prefix + minor.replace(".", "_"),
                record_sha256 = torch.record_sha256,
                version = torch.version,
            )

stock_torch = module_extension(
    implementation = _stock_torch_impl,
    doc = "Declares @stock_torch_MINOR and @stock_torchgen_MINOR for each version in versions.bzl.",
)
