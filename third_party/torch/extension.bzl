"""Module extension that declares @torch: headers, libraries and tags of an installed CPU-only torch.

The torch is the one of the Python that `--repo_env=TORCH_CUDA_PYTHON=…` names, by default of `python3` on PATH (the build
root's). It is looked at, linked to and never changed.
"""

_PYTHON = "TORCH_CUDA_PYTHON"

def _python(repository_ctx):
    named = repository_ctx.os.environ.get(_PYTHON) or "python3"
    if named.startswith("/"):
        # The interpreter of a virtual environment is a link, which is run as it is.
        python = repository_ctx.path(named)
        found = python.exists
    else:
        # which() stops the build where it is given a path.
        python = None if "/" in named else repository_ctx.which(named)
        found = python != None
    if not found:
        fail(("@torch: found no interpreter %s; needed a name on PATH or an absolute path. Give one with " +
              "--repo_env=%s=PYTHON.") % (named, _PYTHON))
    return python

def _torch_repository_impl(repository_ctx):
    version_file = repository_ctx.path(Label("@pytorch//:version.txt"))
    source_version = repository_ctx.read(version_file).strip().split("a0")[0]
    result = repository_ctx.execute(
        [
            _python(repository_ctx),
            "-B",
            repository_ctx.path(Label("//third_party/torch:probe.py")),
            "--source-version",
            source_version,
        ],
        # A torch_cuda that this Python may already have must not be what is built against.
        environment = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        timeout = 300,
    )
    if result.return_code:
        fail(result.stderr.strip())
    torch = json.decode(result.stdout)
    for name, path in torch["includes"].items():
        repository_ctx.symlink(path, "include/" + name)
    for name, path in torch["libraries"].items():
        repository_ctx.symlink(path, "lib/" + name)
    repository_ctx.symlink(torch["python_include"], "python_include")
    facts = {key: value for key, value in torch.items() if key not in ("includes", "libraries", "python_include")}
    repository_ctx.file("torch.json", json.encode_indent(facts, indent = "  ") + "\n")
    repository_ctx.file("torch.bzl", '"""Facts about the torch that is built against."""\n\nTORCH = json.decode(%r)\n' %
                                     json.encode(facts))
    repository_ctx.symlink(Label("//third_party/torch:overlay.BUILD.bazel"), "BUILD.bazel")

torch_repository = repository_rule(
    implementation = _torch_repository_impl,
    doc = "Links the headers and libraries of an installed CPU-only torch.",
    environ = [_PYTHON, "PATH"],
)

def _torch_impl(_module_ctx):
    torch_repository(name = "torch")

torch = module_extension(
    implementation = _torch_impl,
    doc = "Declares @torch. Choose its Python with --repo_env=TORCH_CUDA_PYTHON=PYTHON.",
)
