"""Which files of an index are wanted, and which indexes are asked. No test here leaves the machine."""

import json
import ssl
import subprocess
from unittest import mock

from absl.testing import absltest

from tools.remote_wheel import index
from tools.remote_wheel.package_server import PackageServer

_SAMPLE = "sample_one-1.5-cp313-cp313-manylinux_2_28_x86_64.whl"


def wanted(**changes: object) -> index.Wanted:
    fields: dict[str, object] = {
        "requirement": "Sample.One==1.5",
        "python_version": "3.13",
        "platforms": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64"),
    }
    return index.Wanted(**{**fields, **changes})  # type: ignore[arg-type]


class NamesTest(absltest.TestCase):
    def test_wheels_that_run_here_are_wanted(self) -> None:
        for name in (
            _SAMPLE,
            "sample_one-1.5-py3-none-any.whl",
            "sample_one-1.5-py2.py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            "sample_one-1.5-1-cp39-abi3-manylinux_2_28_x86_64.whl",
        ):
            self.assertTrue(wanted().is_file(name), name)

    def test_others_are_not(self) -> None:
        for name in (
            "sample_one-1.5.1-cp313-cp313-manylinux_2_28_x86_64.whl",
            "sample-1.5-cp313-cp313-manylinux_2_28_x86_64.whl",
            "sample_one-1.5-cp312-cp312-manylinux_2_28_x86_64.whl",
            "sample_one-1.5-cp313-cp313t-manylinux_2_28_x86_64.whl",
            "sample_one-1.5-cp314-abi3-manylinux_2_28_x86_64.whl",
            "sample_one-1.5-cp313-cp313-manylinux_2_28_aarch64.whl",
            "sample_one-1.5.tar.gz",
            _SAMPLE + ".metadata",
        ):
            self.assertFalse(wanted().is_file(name), name)


class PagesTest(absltest.TestCase):
    def test_html_and_json_say_the_same(self) -> None:
        page = f'<a href="../files/{_SAMPLE}#sha256=00">{_SAMPLE}</a><a>no link</a>'.encode()
        as_json = json.dumps({"files": [{"filename": _SAMPLE, "url": f"../files/{_SAMPLE}"}]})
        for links in (
            index.links(page, "text/html"),
            index.links(as_json.encode(), "application/vnd.pypi.simple.v1+json"),
        ):
            self.assertEqual(links, {_SAMPLE: f"../files/{_SAMPLE}"})

    def test_the_next_index_is_asked_where_one_has_nothing(self) -> None:
        server = self.enter_context(PackageServer(_SAMPLE, b"wheel", b"", project="sample-one"))
        pip = {
            "index-url": server.url + "/nothing",
            "extra-index-url": f"file:///nothing\n{server.url}",
        }
        context = ssl.create_default_context()
        self.assertEqual(index.find(wanted(), pip, context), server.wheel_url)
        with self.assertRaisesRegex(index.NotFoundError, "404.*1 files of sample-one, none"):
            index.find(wanted(requirement="sample-one==9"), pip, context)

    def test_a_name_and_password_of_the_address_are_sent(self) -> None:
        server = self.enter_context(PackageServer(_SAMPLE, b"wheel", b"", project="sample-one"))
        login = server.url.replace("//", "//me:se%40cret@")
        index.find(wanted(), {"index-url": login}, ssl.create_default_context())
        self.assertEqual(server.logins, ["Basic bWU6c2VAY3JldA=="])


class SettingsTest(absltest.TestCase):
    def test_the_environment_is_before_files(self) -> None:
        said = (
            ":env:.index-url='https://one'\n"
            "global.cert='/cert'\n"
            "global.extra-index-url='https://two\\nhttps://three'\n"
            "global.index-url='https://file'\n"
        )
        result = subprocess.CompletedProcess([], 0, said, "")
        with mock.patch.object(subprocess, "run", return_value=result):
            self.assertEqual(
                index.settings(),
                {
                    "cert": "/cert",
                    "extra-index-url": "https://two\nhttps://three",
                    "index-url": "https://one",
                },
            )


if __name__ == "__main__":
    absltest.main()
