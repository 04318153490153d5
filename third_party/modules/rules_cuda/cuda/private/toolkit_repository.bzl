"""Repository rule that describes an installed CUDA toolkit, found where rules_cuda finds one."""

_DEBIAN = "/usr/lib/nvidia-cuda-toolkit"

# Of the libraries of a machine, those that the toolkit brings.
_LIBRARIES = ["libcudart", "libcublas", "libcublasLt", "libcufft", "libcufftw", "libcurand", "libcusolver", "libcusparse", "libnvrtc", "libnvToolsExt"]

def _toolkit_path(repository_ctx):
    """Returns the folder of the toolkit: the attribute, CUDA_PATH, that of ptxas on PATH, or CUDA's own default."""
    named = repository_ctx.attr.toolkit_path or repository_ctx.os.environ.get("CUDA_PATH")
    if named:
        return named
    ptxas = repository_ctx.which("ptxas")
    if not ptxas:
        return "/usr/local/cuda"
    if repository_ctx.path(_DEBIAN + "/bin/nvcc").exists and str(ptxas) == "/usr/bin/ptxas":
        return _DEBIAN
    return str(ptxas.dirname.dirname)

def _cuda_toolkit_impl(repository_ctx):
    path = _toolkit_path(repository_ctx)
    nvcc = repository_ctx.path(path + "/bin/nvcc")
    if not nvcc.exists:
        fail("@cuda: %s has no bin/nvcc. Install a CUDA 12 toolkit, name its folder with --repo_env=CUDA_PATH=FOLDER, or " % path +
             "use ./bazelw on a machine without one: it brings its own.")
    version = repository_ctx.execute([nvcc, "--version"])
    if version.return_code:
        fail("@cuda: %s --version failed: %s%s" % (nvcc, version.stdout, version.stderr))

    # Debian's headers are in the compiler's own search path, and its libraries among the machine's.
    if path == _DEBIAN:
        libraries = repository_ctx.path("/usr/lib/x86_64-linux-gnu")
    else:
        libraries = repository_ctx.path(path + "/lib64")
        repository_ctx.symlink(path + "/include", "cuda/include")
    for name in [library + ".so" for library in _LIBRARIES] + ["stubs/libcuda.so"]:
        library = repository_ctx.path("%s/%s" % (libraries, name))
        if library.exists:
            repository_ctx.symlink(library, "cuda/lib64/" + name)
    repository_ctx.file("version.txt", version.stdout)
    repository_ctx.template(
        "BUILD.bazel",
        Label("//cuda/private:toolkit.BUILD.bazel"),
        substitutions = {"%{nvcc}": str(nvcc)},
    )

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    attrs = {"toolkit_path": attr.string(doc = "Folder of the toolkit; empty: CUDA_PATH or PATH.")},
    doc = "Finds nvcc and the toolkit's headers and libraries on this machine.",
    environ = [
        "CUDA_PATH",
        "PATH",
    ],
    local = True,
)
