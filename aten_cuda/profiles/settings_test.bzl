"""Profiles have the operators that PyTorch chooses by itself once a setting compiles their kernels in."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(":defs.bzl", "OpProfileInfo")

_FLASH = "_scaled_dot_product_flash_attention"
_EFFICIENT = "_scaled_dot_product_efficient_attention"
_CUDNN = "cudnn_*"

def _registers_test_impl(ctx):
    env = analysistest.begin(ctx)
    profile = analysistest.target_under_test(env)[OpProfileInfo]
    operators = [
        operator
        for selection in profile.selections.to_list()
        if "CUDA" in selection.backends
        for operator in selection.operators
    ]
    found = [operator for operator in [_CUDNN, _EFFICIENT, _FLASH] if operator in operators]
    asserts.equals(env, ctx.attr.operators, found)
    return analysistest.end(env)

def _registers_test(**settings):
    return analysistest.make(
        _registers_test_impl,
        attrs = {"operators": attr.string_list()},
        config_settings = {str(Label("//config:" + name)): value for name, value in settings.items()},
    )

_plain_test = _registers_test(attention = "none", cudnn = False)
_memory_efficient_test = _registers_test(attention = "memory-efficient", cudnn = False)
_flash_128_test = _registers_test(attention = "flash-128", cudnn = False)
_cudnn_test = _registers_test(attention = "none", cudnn = True)
_all_test = _registers_test(attention = "all", cudnn = True)

def settings_test_suite(name):
    """Declares the tests.

    Args:
        name: string, name of the test_suite.
    """
    tests = []
    for profile in ["//aten_cuda/profiles:core", "//aten_cuda/profiles/models"]:
        for test, setting, operators in [
            (_plain_test, "plain", []),
            (_memory_efficient_test, "memory_efficient", [_EFFICIENT, _FLASH]),
            (_flash_128_test, "flash_128", [_EFFICIENT, _FLASH]),
            (_cudnn_test, "cudnn", [_CUDNN]),
            (_all_test, "all", [_CUDNN, _EFFICIENT, _FLASH]),
        ]:
            tests.append("%s_%s_%s" % (name, Label(profile).name, setting))
            test(name = tests[-1], operators = operators, target_under_test = profile)
    native.test_suite(name = name, tests = tests)
