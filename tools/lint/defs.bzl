"""The rule macro of this package: one check as one test."""

load("@rules_python//python:defs.bzl", "py_test")

# What hosts.py reads; a test sees no other variables of the caller.
_HOST_VARIABLES = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NPM_CONFIG_REGISTRY",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "http_proxy",
    "https_proxy",
    "npm_config_registry",
]

# The sources on disk are no declared inputs, so Bazel cannot know when a result is out of date:
# "external" runs the test every time, "local" on this machine and outside the sandbox.
ON_WORKSPACE = [
    "external",
    "local",
    "no-remote",
]

def tool_env(tools):
    """The variables that tell checks.py where the tools are.

    Args:
        tools: list of names of repositories of third_party/lint, such as "ruff".

    Returns:
        dict for the attribute env; needs the same tools in data.
    """
    return {
        "LINT_" + tool.upper(): "$(rlocationpath @{0}//:{0})".format(tool)
        for tool in tools
    }

def tool_data(tools):
    """The labels of the tools, for the attribute data.

    Args:
        tools: list of names of repositories of third_party/lint, such as "ruff".

    Returns:
        list of label strings.
    """
    return ["@{0}//:{0}".format(tool) for tool in tools]

def lint_test(name, check, tools = [], size = "small"):
    """A test that runs one check on the whole workspace.

    Args:
        name: name of the test.
        check: string, a key of checks.CHECKS, "forbidden" or "pages".
        tools: list of the fetched tools that it needs.
        size: as of py_test; for a check that may take more than a minute on a loaded machine.
    """
    py_test(
        name = name,
        size = size,
        srcs = ["check.py"],
        args = [check],
        data = tool_data(tools),
        env = tool_env(tools),
        env_inherit = _HOST_VARIABLES + ["XDG_CACHE_HOME"],
        main = "check.py",
        tags = ON_WORKSPACE,
        deps = [":lint"],
    )
