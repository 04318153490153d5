"""The module extension that fetches what wheels for aarch64 Linux are built and tried with on x86-64: `@aarch64`.

It has Debian's cross compiler with glibc and libstdc++ of aarch64, the static libraries that the runtime links, and QEMU's
emulator of one program. `--config=aarch64` (.bazelrc) registers `@aarch64//:toolchain`; no other build fetches any of it. The
packages are those of the suite and mirror that APT is configured with, and APT checks the archive's signature.

In MODULE.bazel:

    aarch64 = use_extension("//third_party/aarch64:extension.bzl", "aarch64", dev_dependency = True)
    use_repo(aarch64, "aarch64")
"""

load("//third_party:debian_packages.bzl", "debian_mirror", "extract_debian_packages")

_SUITE = "trixie"

# For this machine.
_TOOLS = [
    "binutils-aarch64-linux-gnu",
    "cpp-13-aarch64-linux-gnu",
    "g++-13-aarch64-linux-gnu",
    "gcc-13-aarch64-linux-gnu",
    "libc6-arm64-cross",
    "libc6-dev-arm64-cross",
    "libgcc-13-dev-arm64-cross",
    "libgcc-s1-arm64-cross",
    "libstdc++-13-dev-arm64-cross",
    "libstdc++6-arm64-cross",
    "linux-libc-dev-arm64-cross",
    "qemu-user",
]

# Static libraries with their headers: those that a build for this machine links (third_party/linked), and GoogleTest.
_LIBRARIES = [
    "libgmp10",
    "libgtest-dev",
    "liblz4-dev",
    "libmpfr6",
    "libopenblas-pthread-dev",
]

# The compiler and its tools look for their libraries beside themselves, and for glibc's where a linker script of glibc's
# names it: below the folder that is said to be the root.
_COMPILER = """#!/bin/sh
here=$(dirname "$0")/..
LD_LIBRARY_PATH=$here/tools/usr/lib/x86_64-linux-gnu exec "$here/tools/usr/bin/aarch64-linux-gnu-{name}" \\
  "--sysroot=$here/tools" "-L$here/libraries/usr/lib/aarch64-linux-gnu" \\
  "-L$here/libraries/usr/lib/aarch64-linux-gnu/openblas-pthread" \\
  -idirafter "$here/libraries/usr/include" -idirafter "$here/libraries/usr/include/aarch64-linux-gnu" "$@"
"""

_TOOL = """#!/bin/sh
here=$(dirname "$0")/..
LD_LIBRARY_PATH=$here/tools/usr/lib/x86_64-linux-gnu exec "$here/tools/usr/bin/aarch64-linux-gnu-{name}" "$@"
"""

# A test runs as `run.sh PROGRAM ARGUMENTS`.
_RUN = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
# Programs that the program starts need the kernel to know QEMU (binfmt_misc).
export QEMU_LD_PREFIX="$here/tools/usr/aarch64-linux-gnu"
exec "$here/tools/usr/bin/qemu-aarch64" "$@"
"""

_BUILD = '''"""A compiler for aarch64 Linux, as fetched by third_party/aarch64."""

load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")
load("@rules_cc//cc:defs.bzl", "cc_toolchain")

package(default_visibility = ["//visibility:public"])

sh_binary(
    name = "run",
    srcs = ["run.sh"],
    data = [":emulator"],
)

filegroup(
    name = "files",
    srcs = glob(
        ["bin/*", "tools/usr/**", "libraries/usr/include/**", "libraries/usr/lib/**"],
        exclude = ["**/* *", "tools/usr/bin/qemu-*", "tools/usr/share/**"],
    ),
)

filegroup(
    name = "emulator",
    srcs = ["tools/usr/bin/qemu-aarch64"] + glob(["tools/usr/aarch64-linux-gnu/lib/*.so*"]),
)

cc_toolchain_config(
    name = "config",
    abi_libc_version = "glibc",
    abi_version = "gcc",
    compile_flags = ["-U_FORTIFY_SOURCE", "-fstack-protector", "-Wall", "-fno-omit-frame-pointer"],
    compiler = "gcc",
    cpu = "aarch64",
    cxx_builtin_include_directories = {includes},
    cxx_flags = ["-std=c++17"],
    dbg_compile_flags = ["-g"],
    host_system_name = "x86_64-linux-gnu",
    link_flags = ["-Wl,-z,relro,-z,now", "-lm"],
    link_libs = ["-lstdc++", "-lm"],
    opt_compile_flags = ["-O2", "-D_FORTIFY_SOURCE=1", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"],
    opt_link_flags = ["-Wl,--gc-sections"],
    supports_start_end_lib = False,
    target_libc = "glibc",
    target_system_name = "aarch64-linux-gnu",
    tool_paths = {{
        "ar": "bin/ar",
        "cpp": "bin/cpp",
        "dwp": "/bin/false",
        "gcc": "bin/gcc",
        "gcov": "/bin/false",
        "ld": "bin/ld",
        "llvm-cov": "/bin/false",
        "nm": "bin/nm",
        "objcopy": "bin/objcopy",
        "objdump": "bin/objdump",
        "strip": "bin/strip",
    }},
    toolchain_identifier = "aarch64-linux-gnu",
    unfiltered_compile_flags = [
        "-fno-canonical-system-headers",
        "-Wno-builtin-macro-redefined",
        "-D__DATE__=\\"redacted\\"",
        "-D__TIMESTAMP__=\\"redacted\\"",
        "-D__TIME__=\\"redacted\\"",
    ],
)

cc_toolchain(
    name = "compiler",
    all_files = ":files",
    ar_files = ":files",
    as_files = ":files",
    compiler_files = ":files",
    dwp_files = ":files",
    linker_files = ":files",
    objcopy_files = ":files",
    strip_files = ":files",
    supports_param_files = True,
    toolchain_config = ":config",
)

toolchain(
    name = "toolchain",
    exec_compatible_with = ["@platforms//cpu:x86_64", "@platforms//os:linux"],
    target_compatible_with = ["@platforms//cpu:aarch64", "@platforms//os:linux"],
    toolchain = ":compiler",
    toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
)
'''

_FAILED = """\
The compiler for aarch64 could not be fetched: {reason}
  Needed: a Debian mirror that this machine's APT reaches, with the suite %s."""

def _aarch64_repository_impl(ctx):
    mirror = debian_mirror(ctx)
    if not mirror:
        fail((_FAILED % _SUITE).format(reason = "APT is not there, or knows no mirror"))
    for architecture, folder, packages in [("amd64", "tools", _TOOLS), ("arm64", "libraries", _LIBRARIES)]:
        ctx.report_progress("Fetching packages of Debian for %s" % architecture)
        reason = extract_debian_packages(ctx, mirror, _SUITE, architecture, folder, packages)
        if reason:
            fail((_FAILED % _SUITE).format(reason = reason))
    for name, target in {"cpp": "cpp-13", "gcc": "gcc-13"}.items():
        ctx.file("bin/" + name, _COMPILER.format(name = target))
    for name in ["ar", "ld", "nm", "objcopy", "objdump", "strip"]:
        ctx.file("bin/" + name, _TOOL.format(name = name))
    ctx.file("run.sh", _RUN)
    ctx.file("BUILD.bazel", _BUILD.format(includes = repr([
        "external/%s/%s/usr" % (ctx.name, folder)
        for folder in ["libraries", "tools"]
    ] + [
        str(ctx.path(folder + "/usr"))
        for folder in ["libraries", "tools"]
    ])))

aarch64_repository = repository_rule(
    implementation = _aarch64_repository_impl,
    doc = "Debian's compiler for aarch64, static libraries, and QEMU's emulator of a program.",
)

def _aarch64_extension_impl(_ctx):
    aarch64_repository(name = "aarch64")

aarch64 = module_extension(
    implementation = _aarch64_extension_impl,
    doc = "Makes the repository @aarch64.",
)
