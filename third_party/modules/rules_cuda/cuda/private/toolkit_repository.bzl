"""Repository rule that describes an installed CUDA toolkit."""

# The newest g++ that each nvcc accepts (CUDA Installation Guide for Linux, "Host Compiler Support Policy").
_NEWEST_GCC = {
    "12.0": 12,
    "12.1": 12,
    "12.2": 12,
    "12.3": 12,
    "12.4": 13,
    "12.5": 13,
    "12.6": 13,
}

# Label: (link name, folders below the toolkit or multiarch folder are searched for it).
_LIBRARIES = {
    "cudart": "libcudart.so",
    "cublas": "libcublas.so",
    "cublasLt": "libcublasLt.so",
    "cufft": "libcufft.so",
    "curand": "libcurand.so",
    "cusolver": "libcusolver.so",
    "cusparse": "libcusparse.so",
    "nvrtc": "libnvrtc.so",
    "nvtx": "libnvToolsExt.so",
    "cuda_driver": "stubs/libcuda.so",
}

def _nvcc(repository_ctx):
    for folder in [repository_ctx.attr.toolkit_path, repository_ctx.os.environ.get("CUDA_PATH")]:
        if folder:
            nvcc = repository_ctx.path(folder).get_child("bin").get_child("nvcc")
            if not nvcc.exists:
                fail("@cuda: %s has no bin/nvcc. Name the folder of a CUDA 12 toolkit with --repo_env=CUDA_PATH=FOLDER." % folder)
            return nvcc
    nvcc = repository_ctx.which("nvcc")
    if not nvcc:
        fail("@cuda: no nvcc on PATH. Install a CUDA 12 toolkit, name its folder with --repo_env=CUDA_PATH=FOLDER, or " +
             "use ./bazelw on a machine without one: it brings its own.")
    return nvcc

def _version(repository_ctx, nvcc):
    result = repository_ctx.execute([nvcc, "--version"])
    words = [word for word in result.stdout.replace("\n", " ").replace(",", " ").split(" ") if word]
    if result.return_code or "release" not in words:
        fail("@cuda: %s --version failed: %s%s" % (nvcc, result.stdout, result.stderr))
    version = words[words.index("release") + 1]
    if version.split(".")[0] != "12":
        fail("@cuda: %s is CUDA %s, but PyTorch 2.6 needs CUDA 12. Name another toolkit with --repo_env=CUDA_PATH=FOLDER." % (nvcc, version))
    return version, result.stdout

def _host_compiler(repository_ctx, version):
    named = repository_ctx.os.environ.get("CUDAHOSTCXX")
    if named:
        compiler = repository_ctx.which(named)
        if not compiler:
            fail("@cuda: CUDAHOSTCXX=%s is not a compiler on this machine." % named)
        return compiler
    newest = _NEWEST_GCC.get(version, 13)
    for major in range(newest, 8, -1):
        compiler = repository_ctx.which("g++-%d" % major)
        if compiler:
            return compiler
    fail("@cuda: CUDA %s needs g++ %d or older as its host compiler, and none is installed. Install g++-%d, or name one with --repo_env=CUDAHOSTCXX=COMPILER." % (version, newest, newest))

def _toolkit_repository_impl(repository_ctx):
    nvcc = _nvcc(repository_ctx)
    version, banner = _version(repository_ctx, nvcc)
    compiler = _host_compiler(repository_ctx, version)
    compiler_version = repository_ctx.execute([compiler, "--version"]).stdout
    root = nvcc.dirname.dirname
    folders = [
        folder
        for folder in [
            root.get_child("lib64"),
            root.get_child("targets").get_child("x86_64-linux").get_child("lib"),
            root.get_child("lib").get_child("x86_64-linux-gnu"),
        ]
        if folder.exists
    ]
    for label, name in _LIBRARIES.items():
        for folder in folders:
            # The driver's stub is linked against; the driver itself is the user's.
            library = repository_ctx.path("%s/%s" % (folder, name))
            if library.exists:
                repository_ctx.symlink(library, "lib/%s.so" % label)
                break
    missing = [name for label, name in _LIBRARIES.items() if not repository_ctx.path("lib/%s.so" % label).exists]
    if missing:
        fail("@cuda: the toolkit of %s lacks %s (looked in %s). Install its development libraries." %
             (nvcc, ", ".join(missing), ", ".join([str(folder) for folder in folders])))

    # A toolkit in a folder of its own has its headers there; Debian's are in the compiler's own search path.
    include = root.get_child("include")
    if str(include) not in ("/usr/include", "/usr/local/include"):
        repository_ctx.symlink(include, "include")
    repository_ctx.file("version.txt", banner + compiler_version)
    repository_ctx.file("cuda.bzl", '"""Facts about the CUDA toolkit."""\n\nCUDA_VERSION = "%s"\n' % version)
    repository_ctx.template(
        "BUILD.bazel",
        Label("//cuda/private:toolkit.BUILD.bazel"),
        substitutions = {
            "%{nvcc}": str(nvcc),
            "%{host_compiler}": str(compiler),
            "%{version}": version,
        },
    )

cuda_toolkit_repository = repository_rule(
    implementation = _toolkit_repository_impl,
    attrs = {"toolkit_path": attr.string(doc = "Folder of the toolkit; empty: CUDA_PATH or PATH.")},
    doc = "Finds nvcc, its host compiler and the toolkit's libraries on this machine.",
    environ = ["CUDA_PATH", "CUDAHOSTCXX", "PATH"],
    local = True,
)
