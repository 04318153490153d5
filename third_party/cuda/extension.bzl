"""Module extension that declares @cuda_toolkit: facts about the CUDA toolkit that rules_cuda's @cuda does not offer.

`@cuda_toolkit//:cuda.bzl` has CUDA_VERSION, `@cuda_toolkit//:lib/NAME.so` is a library whose symbols the simulated
device takes over, `@cuda_toolkit//:cupti_headers` CUPTI's headers, each `@cuda_toolkit//:include/NAME.h`, `@cuda_toolkit//:headers/NAME.h` a header of functions that tests count, and `@cuda_toolkit//:bin/NAME` a program that they run. What is compiled and linked with comes from @cuda, under the names of rules_cuda. Both find the same
toolkit: CUDA_PATH, else the one on PATH.
"""

# Label: name of the file, looked for below the toolkit or in the machine's folder of libraries.
_LIBRARIES = {
    "cublas": "libcublas.so",
    "cublasLt": "libcublasLt.so",
    # The driver's stub is linked against; the driver itself is the user's.
    "cuda": "stubs/libcuda.so",
    "cudart": "libcudart.so",
    "cufft": "libcufft.so",
    "cupti": "libcupti.so",
    "curand": "libcurand.so",
    "cusolver": "libcusolver.so",
    "cusparse": "libcusparse.so",
    "nvJitLink": "libnvJitLink.so",
    "nvrtc": "libnvrtc.so",
    "nvtx": "libnvToolsExt.so",
}

# The same for libraries that are installed beside a toolkit. A machine may lack them: only what is made after them then
# fails, for want of the label.
_OTHER_LIBRARIES = {
    "nccl": "libnccl.so",
}

# Headers that tests read: what they declare is what has to be there.
_READ_HEADERS = [
    "cuda_bf16.h",
    "cuda_fp16.h",
]

# Programs beside nvcc that tests run.
_PROGRAMS = [
    "cuobjdump",
    "ptxas",
]

def _nvcc(repository_ctx):
    folder = repository_ctx.os.environ.get("CUDA_PATH")
    if folder:
        nvcc = repository_ctx.path(folder).get_child("bin").get_child("nvcc")
        if not nvcc.exists:
            fail("@cuda_toolkit: %s has no bin/nvcc. Name the folder of a CUDA 12 toolkit with --repo_env=CUDA_PATH=FOLDER." % folder)
        return nvcc
    nvcc = repository_ctx.which("nvcc")
    if not nvcc:
        fail("@cuda_toolkit: no nvcc on PATH. Install a CUDA 12 toolkit, name its folder with --repo_env=CUDA_PATH=FOLDER, or " +
             "use ./bazelw on a machine without one: it brings its own.")
    return nvcc

def _version(repository_ctx, nvcc):
    result = repository_ctx.execute([nvcc, "--version"])
    words = [word for word in result.stdout.replace("\n", " ").replace(",", " ").split(" ") if word]
    if result.return_code or "release" not in words:
        fail("@cuda_toolkit: %s --version failed: %s%s" % (nvcc, result.stdout, result.stderr))
    version = words[words.index("release") + 1]
    if version.split(".")[0] != "12":
        fail("@cuda_toolkit: %s is CUDA %s, but PyTorch 2.6 needs CUDA 12. Name another toolkit with --repo_env=CUDA_PATH=FOLDER." % (nvcc, version))
    return version

def _cupti_headers(root):
    folders = [
        root.get_child("extras").get_child("CUPTI").get_child("include"),
        root.get_child("targets").get_child("x86_64-linux").get_child("include"),
        root.get_child("include"),
    ]
    for folder in folders:
        if folder.get_child("cupti.h").exists:
            return [
                path
                for path in folder.readdir()
                if path.basename.endswith(".h") and (path.basename.startswith("cupti") or path.basename.startswith("generated_"))
            ]
    fail("@cuda_toolkit: the toolkit lacks cupti.h (looked in %s). Install CUPTI's headers." % ", ".join([str(folder) for folder in folders]))

def _cuda_toolkit_repository_impl(repository_ctx):
    nvcc = _nvcc(repository_ctx)
    version = _version(repository_ctx, nvcc)
    root = nvcc.dirname.dirname
    folders = [
        folder
        for folder in [
            root.get_child("lib64"),
            root.get_child("targets").get_child("x86_64-linux").get_child("lib"),
            root.get_child("lib").get_child("x86_64-linux-gnu"),
            repository_ctx.path("/usr/lib/x86_64-linux-gnu"),
            root.get_child("extras").get_child("CUPTI").get_child("lib64"),
        ]
        if folder.exists
    ]
    missing = []
    for label, name in (_LIBRARIES | _OTHER_LIBRARIES).items():
        found = [path for path in [repository_ctx.path("%s/%s" % (folder, name)) for folder in folders] if path.exists]
        if found:
            repository_ctx.symlink(found[0], "lib/%s.so" % label)
        elif label in _LIBRARIES:
            missing.append(name)
    if missing:
        fail("@cuda_toolkit: the toolkit of %s lacks %s (looked in %s). Install its development libraries." %
             (nvcc, ", ".join(missing), ", ".join([str(folder) for folder in folders])))
    for header in _cupti_headers(root):
        repository_ctx.symlink(header, "include/" + header.basename)
    for name in _READ_HEADERS:
        for folder in [root.get_child("targets").get_child("x86_64-linux").get_child("include"), root.get_child("include")]:
            if folder.get_child(name).exists:
                repository_ctx.symlink(folder.get_child(name), "headers/" + name)
                break
    for name in _PROGRAMS:
        if nvcc.dirname.get_child(name).exists:
            repository_ctx.symlink(nvcc.dirname.get_child(name), "bin/" + name)
    repository_ctx.file("cuda.bzl", '"""Facts about the CUDA toolkit."""\n\nCUDA_VERSION = "%s"\n' % version)
    repository_ctx.symlink(Label("//third_party/cuda:toolkit.BUILD.bazel"), "BUILD.bazel")

cuda_toolkit_repository = repository_rule(
    implementation = _cuda_toolkit_repository_impl,
    doc = "Finds the version and the libraries of the CUDA toolkit on this machine.",
    environ = [
        "CUDA_PATH",
        "PATH",
    ],
    local = True,
)

def _cuda_toolkit_impl(_module_ctx):
    cuda_toolkit_repository(name = "cuda_toolkit")

cuda_toolkit = module_extension(
    implementation = _cuda_toolkit_impl,
    doc = "Declares @cuda_toolkit. Choose the toolkit with --repo_env=CUDA_PATH=FOLDER.",
)
