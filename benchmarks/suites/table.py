"""The packages of the benchmark, and what each of them takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A release that faults are planted into.

    Attributes:
        name: Its distribution name, normalised.
        version: The release.
        import_name: The package whose folder holds the source under test.
        requirements: What its tests need besides its own dependencies.
        args: Arguments of pytest.
        deselect: Tests that are left out though they pass, or kill the run: slow, or of the
            surroundings.
        older: Releases that function bodies are taken from.
    """

    name: str
    version: str
    import_name: str
    requirements: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    deselect: tuple[str, ...] = ()
    older: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"


KNOWN = {
    subject.name: subject
    for subject in (
        Subject(
            name="boltons",
            version="26.2.0",
            import_name="boltons",
            args=("tests",),
            older=("24.0.0", "21.0.0", "19.0.1"),
        ),
        Subject(
            name="marshmallow",
            version="4.4.0",
            import_name="marshmallow",
            requirements=("simplejson",),
            args=("tests",),
            older=("4.0.0", "3.23.0", "3.14.0"),
        ),
        Subject(
            name="sqlparse",
            version="0.6.1",
            import_name="sqlparse",
            args=("tests",),
            older=("0.5.0", "0.4.0", "0.3.0"),
        ),
        Subject(
            name="toolz",
            version="1.2.0",
            import_name="toolz",
            args=("toolz",),
            older=("0.12.0", "0.10.0"),
        ),
        Subject(
            name="markdown",
            version="3.11.3",
            import_name="markdown",
            requirements=("pyyaml",),
            # Its tests turn warnings into errors, and this file's TestSuite makes pytest warn.
            args=("tests", "--ignore=tests/test_syntax/extensions/test_md_in_html.py"),
            older=("3.7", "3.5", "3.3.4"),
        ),
        Subject(
            name="parso",
            version="0.8.7",
            import_name="parso",
            older=("0.8.0", "0.7.0", "0.5.0"),
        ),
        Subject(
            name="wtforms",
            version="3.3.2",
            import_name="wtforms",
            requirements=("babel", "email_validator"),
            args=("tests",),
            older=("3.1.0", "3.0.0"),
        ),
        Subject(
            name="python-dateutil",
            version="4.0.0",
            import_name="dateutil",
            requirements=("attrs", "freezegun", "hypothesis"),
            args=("tests",),
            older=("2.9.0", "2.8.0", "2.7.0"),
        ),
        Subject(
            name="h11",
            version="0.16.0",
            import_name="h11",
            args=("h11",),
            older=("0.13.0", "0.9.0"),
        ),
        Subject(
            name="arrow",
            version="1.4.0",
            import_name="arrow",
            requirements=("pytest-mock", "pytz", "simplejson", "dateparser"),
            # Its own options measure coverage.
            args=("tests", "-o", "addopts="),
            older=("1.3.0", "1.0.3", "0.14.7", "0.9.0"),
        ),
        Subject(
            name="attrs",
            version="26.1.0",
            import_name="attr",
            requirements=("hypothesis", "cloudpickle"),
            args=(
                "tests",
                "--hypothesis-seed=1",
                "--ignore=tests/test_funcs.py",
                "--ignore=tests/test_3rd_party.py",
            ),
            deselect=("tests/test_make.py::TestMetadata",),
            older=("25.4.0", "24.3.0", "21.4.0", "19.1.0"),
        ),
        Subject(
            name="babel",
            version="2.18.0",
            import_name="babel",
            requirements=("freezegun", "pytz"),
            # That file tries everything in each of the world's locales.
            args=("tests", "--ignore=tests/test_smoke.py"),
            # Two of these are made for each of the world's locales.
            deselect=(
                "tests/test_core.py::TestLocaleClass::test_all_locales_have_default_numbering_system",
                "tests/test_dates.py::test_no_inherit_metazone_marker_never_in_output",
                "tests/test_numbers.py::test_format_decimal_quantization",
            ),
            older=("2.17.0", "2.14.0", "2.9.1", "2.4.0"),
        ),
        Subject(
            name="beautifulsoup4",
            version="4.15.0",
            import_name="bs4",
            requirements=("lxml", "html5lib"),
            args=("bs4/tests",),
            older=("4.14.3", "4.12.3", "4.9.3", "4.5.3"),
        ),
        Subject(
            name="chameleon",
            version="4.6.0",
            import_name="chameleon",
            args=("src/chameleon/tests",),
            older=("4.5.4", "3.9.1", "3.0", "2.14"),
        ),
        Subject(
            name="click",
            version="8.5.1",
            import_name="click",
            # Left out: what takes long without running much of it.
            args=(
                "tests",
                "--ignore=tests/test_compat.py",
                "--ignore=tests/test_imports.py",
                "--ignore=tests/test_stream_lifecycle.py",
                "--ignore=tests/test_utils/test_style.py",
                "--ignore=tests/test_termui.py",
            ),
            older=("8.4.2", "7.1.2", "6.1", "2.6"),
        ),
        Subject(
            name="colander",
            version="2.0",
            import_name="colander",
            args=("tests",),
            older=("1.8.3", "1.6.0", "1.2", "0.8"),
        ),
        Subject(
            name="cssutils",
            version="2.15.0",
            import_name="cssutils",
            requirements=("jaraco.test", "cssselect", "lxml"),
            args=("tests",),
            older=("2.14.0", "2.11.1", "2.8.0", "2.4.2"),
        ),
        Subject(
            name="docutils",
            version="0.23",
            import_name="docutils",
            args=("test",),
            older=("0.22.4", "0.19", "0.15.2", "0.10"),
        ),
        Subject(
            name="flask",
            version="3.1.3",
            import_name="flask",
            # Its tests import what a later pytest no longer has.
            requirements=("asgiref", "python-dotenv", "pytest<9"),
            args=("tests",),
            older=("3.0.3", "2.2.5", "1.0.4", "0.8.1"),
        ),
        Subject(
            name="funcy",
            version="2.1",
            import_name="funcy",
            requirements=("whatever", "more-itertools"),
            args=("tests",),
            older=("2.0", "1.15", "1.9.1", "1.1"),
        ),
        Subject(
            name="html2text",
            version="2025.4.15",
            import_name="html2text",
            args=("test",),
            older=("2024.2.26", "2019.8.11", "2016.4.2", "2014.9.25"),
        ),
        Subject(
            name="jinja2",
            version="3.1.6",
            import_name="jinja2",
            requirements=("trio",),
            args=("tests",),
            older=("3.0.3", "2.11.3", "2.8.1", "2.5.5"),
        ),
        Subject(
            name="jsonpath-ng",
            version="1.16.0",
            import_name="jsonpath_ng",
            requirements=("hypothesis", "oslotest"),
            # Left out: what measures time or draws many examples.
            args=(
                "tests",
                "--hypothesis-seed=1",
                "--ignore=tests/benchmarks",
                "--ignore=tests/jsonpath/test_filter_logical_operator_trees.py",
                "--ignore-glob=*_time_scaling.py",
            ),
            deselect=(
                "tests/test_ext_string_definitions.py::test_definition_failure_time_is_linear_to_length",
            ),
            older=("1.15.0", "1.14.0", "1.11.0", "1.8.0"),
        ),
        Subject(
            name="jsonpickle",
            version="4.1.4",
            import_name="jsonpickle",
            args=("tests",),
            older=("4.0.5", "3.2.2", "2.1.0", "1.1"),
        ),
        Subject(
            name="jsonschema",
            version="4.26.0",
            import_name="jsonschema",
            requirements=("jsonpath-ng",),
            # That file holds some 6,700 tests.
            args=("jsonschema/tests", "--ignore=jsonschema/tests/test_jsonschema_test_suite.py"),
            older=("4.25.1", "4.18.6", "4.9.1", "3.0.2"),
        ),
        Subject(
            name="lark",
            version="1.3.1",
            import_name="lark",
            # This file gathers the suites of the others.
            args=("tests/__main__.py",),
            # Slow.
            deselect=(
                "tests/__main__.py::TestEarleyCustom_old0",
                "tests/__main__.py::TestEarleyCustom_old1",
                "tests/__main__.py::TestPythonParser",
                "tests/__main__.py::TestStandalone",
                "tests/__main__.py::TestParsers::test_lexer_token_limit",
            ),
            older=("1.2.2", "1.0.0", "0.12.0"),
        ),
        Subject(
            name="mako",
            version="1.4.3",
            import_name="mako",
            args=("test",),
            older=("1.3.12", "1.2.4", "0.9.1", "0.6.2"),
        ),
        Subject(
            name="mkdocs",
            version="1.6.1",
            import_name="mkdocs",
            requirements=("babel",),
            # That file starts servers and waits for them.
            args=(
                "mkdocs/tests",
                "--ignore=mkdocs/tests/livereload_tests.py",
                "-o",
                "python_files=*_tests.py",
            ),
            older=("1.5.3", "1.2.4", "0.16.3", "0.10"),
        ),
        Subject(
            name="oauthlib",
            version="4.0.1",
            import_name="oauthlib",
            requirements=("cryptography", "pyjwt", "blinker"),
            args=("tests",),
            older=("3.3.1", "3.1.1", "2.0.7", "0.6.3"),
        ),
        Subject(
            name="parsel",
            version="1.12.1",
            import_name="parsel",
            requirements=("sybil", "psutil"),
            args=("tests",),
            older=("1.11.0", "1.10.0", "1.7.0", "1.4.0"),
        ),
        Subject(
            name="petl",
            version="1.7.30",
            import_name="petl",
            args=("petl/test",),
            older=("1.6.8", "1.2.0", "0.22.1", "0.14"),
        ),
        Subject(
            name="prettytable",
            version="3.18.0",
            import_name="prettytable",
            requirements=("pytest-lazy-fixtures",),
            args=("tests",),
            older=("3.17.0", "3.13.0", "3.7.0", "2.5.0"),
        ),
        Subject(
            name="prometheus-client",
            version="0.26.0",
            import_name="prometheus_client",
            requirements=("asgiref", "twisted", "aiohttp"),
            # That file starts servers.
            args=("tests", "--ignore=tests/test_exposition.py"),
            deselect=("tests/test_core.py::TestGauge::test_function_decorator_multithread",),
            older=("0.25.0", "0.22.1", "0.16.0", "0.10.1"),
        ),
        Subject(
            name="prompt-toolkit",
            version="3.0.53",
            import_name="prompt_toolkit",
            args=("tests",),
            deselect=("tests/test_cli.py::test_emacs_arguments_for_all_commands",),
            older=("2.0.10", "0.54", "0.42", "0.26"),
        ),
        Subject(
            name="pyasn1",
            version="0.6.5",
            import_name="pyasn1",
            args=("tests",),
            older=("0.5.1", "0.3.7", "0.2.3"),
        ),
        Subject(
            name="pycparser",
            version="3.12",
            import_name="pycparser",
            args=("tests",),
            older=("3.11", "2.23", "2.18", "2.11"),
        ),
        Subject(
            name="pydash",
            version="8.1.0",
            import_name="pydash",
            requirements=("mock",),
            # That folder is for a type checker.
            args=("tests", "--ignore=tests/pytest_mypy_testing", "-o", "addopts="),
            older=("8.0.6", "5.0.2", "4.5.0", "3.3.0"),
        ),
        Subject(
            name="pyflakes",
            version="4.1.0",
            import_name="pyflakes",
            # Its settings of coverage name this plugin.
            requirements=("covdefaults",),
            args=("pyflakes/test",),
            older=("4.0.3", "3.2.0", "2.2.0", "1.3.0"),
        ),
        Subject(
            name="pyjwt",
            version="2.15.1",
            import_name="jwt",
            requirements=("cryptography",),
            args=("tests",),
            deselect=(
                "tests/test_jwks_client.py::TestPyJWKClient::test_get_jwt_set_cache_expired_result",
                "tests/test_jwks_client.py::TestPyJWKClient::test_get_jwt_set_cache_disabled",
            ),
            older=("2.14.0", "2.11.0", "2.5.0", "1.7.1"),
        ),
        Subject(
            name="pymdown-extensions",
            version="13.1",
            import_name="pymdownx",
            requirements=("pyyaml", "pygments"),
            # Some tests of these two files take many seconds.
            args=(
                "tests",
                "--ignore=tests/test_extensions/test_snippets.py",
                "--ignore=tests/test_extensions/test_recursion.py",
            ),
            older=("13.0", "10.16.1", "10.0.1", "6.1"),
        ),
        Subject(
            name="python-docx",
            version="1.2.0",
            import_name="docx",
            # Its tests turn the warnings of a later one into errors.
            requirements=("pyparsing<3.2",),
            args=(
                "tests/image",
                "tests/opc",
                "tests/oxml",
                "tests/parts",
                "tests/styles",
                "tests/text",
            ),
            older=("1.1.2", "1.0.1", "0.8.11", "0.6.0"),
        ),
        Subject(
            name="soupsieve",
            version="4.1.2",
            import_name="soupsieve",
            requirements=("beautifulsoup4", "lxml", "html5lib"),
            # Its threads take turns as they like.
            args=("tests", "--ignore=tests/test_threads.py"),
            # Slow.
            deselect=(
                "tests/test_level4/test_has.py::TestHas::test_many_siblings_late_match",
                "tests/test_level3/test_subsequent_sibling.py::TestSubsequentSibling::test_many_siblings_late_match",
                "tests/test_api.py::TestSoupSieve::test_unescaped_non_ascii_identifiers",
                "tests/test_api.py::TestSoupSieve::test_escape_round_trip",
            ),
            older=("4.0.1", "2.9.2", "2.3.2", "1.7.3"),
        ),
        Subject(
            name="structlog",
            version="26.1.0",
            import_name="structlog",
            requirements=(
                "freezegun",
                "pretend",
                "pytest-asyncio",
                "time-machine",
                "twisted",
                "rich",
            ),
            args=("tests",),
            older=("25.5.0", "24.4.0", "22.2.0", "19.2.0"),
        ),
        Subject(
            name="textile",
            version="4.0.4",
            import_name="textile",
            # Its own options measure coverage.
            args=("tests", "-o", "addopts="),
            older=("3.0.4", "2.3.16", "2.1.8"),
        ),
        Subject(
            name="traitlets",
            version="5.16.1",
            import_name="traitlets",
            requirements=("argcomplete", "pytest-mock"),
            # That file is for a type checker.
            args=("tests", "--ignore=tests/test_typing.py"),
            older=("5.15.1", "5.12.0", "5.8.1", "5.3.0"),
        ),
        Subject(
            name="webob",
            version="1.8.11",
            import_name="webob",
            # These two files start servers.
            args=(
                "tests",
                "--ignore=tests/test_client_functional.py",
                "--ignore=tests/test_in_wsgiref.py",
            ),
            older=("1.7.4", "1.6.4", "1.4.2"),
        ),
        Subject(
            name="werkzeug",
            version="3.1.9",
            import_name="werkzeug",
            requirements=("pytest-timeout", "ephemeral-port-reserve", "watchdog", "cryptography"),
            # These two files start servers.
            args=(
                "tests",
                "--ignore=tests/test_serving.py",
                "--ignore=tests/middleware/test_http_proxy.py",
            ),
            deselect=(
                "tests/test_routing.py::test_long_build",
                "tests/test_security.py::test_pbkdf2",
                "tests/test_security.py::test_salted_hashes",
            ),
            older=("3.0.6", "2.1.2", "0.15.6", "0.9.6"),
        ),
    )
}
