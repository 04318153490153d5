"""The rules behind the command-line settings of //cuda."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load(":archs.bzl", "parse_archs")
load(":providers.bzl", "CudaArchsInfo")

def _cuda_archs_flag_impl(ctx):
    return CudaArchsInfo(arch_specs = parse_archs(ctx.build_setting_value))

cuda_archs_flag = rule(
    implementation = _cuda_archs_flag_impl,
    build_setting = config.string(flag = True),
    doc = "Architectures as rules_cuda writes them: specs separated by `;`, each `[compute_NN:]ARCH[,ARCH…]`.",
    provides = [CudaArchsInfo],
)

def _repeatable_string_flag_impl(ctx):
    return BuildSettingInfo(value = [value for value in ctx.build_setting_value if value])

repeatable_string_flag = rule(
    implementation = _repeatable_string_flag_impl,
    build_setting = config.string(
        allow_multiple = True,
        flag = True,
    ),
    doc = "A list of strings; the flag may be given several times.",
    provides = [BuildSettingInfo],
)
