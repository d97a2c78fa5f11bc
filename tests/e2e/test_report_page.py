"""The report in a real Chromium, from a file, without a network: what people do with it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import convert
from msgspec.structs import replace

from pytest_bayesloc.report.document import ResultDocument
from pytest_bayesloc.report.html import render
from tests.e2e.browser import HEIGHT, MIDDLE, NARROW, WIDE, chromium, opened
from tests.integration.conftest import Project
from tests.unit.report.test_report_html import EVIL, poisoned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

#: Where the pictures of docs/ go; without it they are made and thrown away.
PICTURES = os.environ.get("BAYESLOC_PICTURES")

SHOP = {
    "shop.py": """
        RATES = {"reduced": 7, "full": 19}


        def tax(net, rate):
            return net * RATES[rate] // 100


        def total(nets, rate):
            gross = 0
            for net in nets:
                gross = gross + net - tax(net, rate)
            return gross


        def label(name, price):
            return f"{name.strip()}: {price / 100:.2f}"


        def parse(text):
            name, price = text.split(";")
            return name, int(price)


        def receipt(lines):
            parsed = [parse(line) for line in lines]
            return [label(name, price) for name, price in parsed]
        """,
    "test_shop.py": """
        import pytest

        from shop import label, parse, receipt, tax, total


        @pytest.mark.parametrize(("net", "want"), [(100, 19), (200, 38), (50, 9)])
        def test_full_tax(net, want):
            assert tax(net, "full") == want


        @pytest.mark.parametrize(("nets", "want"), [([100, 200], 357), ([50], 59)])
        def test_total(nets, want):
            assert total(nets, "full") == want


        def test_nothing_is_free():
            assert total([], "full") == 0


        def test_zero():
            assert tax(0, "reduced") == 0


        def test_label():
            assert label(" tea ", 250) == "tea: 2.50"


        def test_parse():
            assert parse("tea;250") == ("tea", 250)


        def test_receipt():
            assert receipt(["tea;250", "milk,99"]) == ["tea: 2.50", "milk: 0.99"]
        """,
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two faults, and an edit that did not help, remembered."""
    root = tmp_path_factory.mktemp("shop") / "shop"
    root.mkdir()
    made = Project(root).write(SHOP)
    made.run("-q", lean=False)
    other = made.read("shop.py").replace("gross = 0", "gross = int(0)")
    made.write({"shop.py": other})
    return made


@pytest.fixture(scope="module")
def report(project: Project) -> Path:
    """A real one."""
    run = project.run(
        "-q",
        "--bayesloc",
        "--bayesloc-fix=suggest",
        "--bayesloc-report=html:report.html",
        "--bayesloc-report=json:report.json",
        lean=False,
    )
    assert (project.root / "report.html").exists(), run.output
    return project.root / "report.html"


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a change that broke tests."""
    root = tmp_path_factory.mktemp("changed") / "shop"
    root.mkdir()
    made = Project(root).write(
        {**SHOP, "shop.py": SHOP["shop.py"].replace("net - tax", "net + tax")}
    )
    made.run("-q", lean=False)
    made.write({"shop.py": made.read("shop.py").replace("net + tax", "net - tax")})
    made.run("-q", "--bayesloc", "--bayesloc-report=html:report.html", lean=False)
    return root / "report.html"


@pytest.fixture(scope="module")
def document(report: Path) -> ResultDocument:
    return convert(json.loads(report.with_suffix(".json").read_text("utf-8")), ResultDocument)


# -- five questions, each answered within two clicks


@pytest.mark.parametrize("kind", ["fix", "change"])
def test_first_screen_answers_without_scrolling(
    browser: Browser, report: Path, changed: Path, kind: str
) -> None:
    with opened(browser, report if kind == "fix" else changed) as found:
        answer = found.page.get_by_label("Answer to fault 1")
        text = " ".join(answer.inner_text().split())
        parts = (".who", ".excerpt .at", ".reasons", ".sides", ".diff", ".next")
        boxes = [answer.locator(part).bounding_box() for part in parts]

    assert "total" in text
    assert "shop.py:11" in text
    assert "%" in text.partition("total")[2][:20]
    assert "+ gross = gross + net + tax(net, rate)" in text
    assert "nets[0]" in text
    assert "pytest" in text.partition("Now")[2]
    assert [box for box in boxes if box is None or box["y"] + box["height"] > HEIGHT] == []
    assert found.troubles == []


def test_why_not_the_other_one(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        found.page.get_by_text("Why not another?").first.click()
        other = found.page.locator("#fault-1-row-2")
        other.locator("summary").first.click()
        assert other.locator(".why").is_visible()
        assert "executed by" in other.inner_text()


def test_what_was_run(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        found.page.get_by_text("What was run?").first.click()
        step = found.page.locator("#fault-1-step-1")
        step.locator("summary").first.click()
        assert step.locator(".diff").first.is_visible()
        assert "Tests under the patch" in step.inner_text()


def test_how_the_tests_failed(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        found.page.get_by_text("How did they fail?").first.click()
        tests = found.page.locator("#fault-1-tests + .card")
        tests.locator("summary").first.click()
        assert "test_shop.py:1" in tests.inner_text()
        assert "Of the top suspects it executes: total" in " ".join(tests.inner_text().split())


# -- what it does


def test_a_ranking_is_filtered_and_sorted(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        page = found.page
        table = page.locator("#fault-1-row")
        page.keyboard.press("/")
        page.locator('form[data-filters="fault-1-row"] input[type=search]').fill("TAX")
        shown = [row for row in table.locator("tbody > tr[id]").all() if row.is_visible()]
        assert [row.get_attribute("data-place") for row in shown] == ["shop.py:4 tax"]
        page.locator('form[data-filters="fault-1-row"] input[type=search]').fill("")
        page.locator('form[data-filters="fault-1-row"] input[name=tests]').uncheck()
        assert not table.locator("tr[data-test]").first.is_visible()
        by_place = table.get_by_role("button", name="Place")
        by_place.click()
        by_place.click()
        header = table.locator("th[data-sort=place]")
        assert header.get_attribute("aria-sort") == "descending"
        assert table.locator("th[data-sort=rank]").get_attribute("aria-sort") is None
        places = [row.get_attribute("data-place") for row in table.locator("tbody > tr[id]").all()]
        assert places == sorted(places, key=str, reverse=True)
    assert found.troubles == []


def test_keys_lead_from_place_to_place(browser: Browser, report: Path) -> None:
    focused = (
        "document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
    )
    with opened(browser, report) as found:
        page = found.page
        page.keyboard.press("j")
        first = page.evaluate(focused)
        page.keyboard.press("j")
        page.keyboard.press("j")
        third = page.evaluate(focused)
        page.keyboard.press("k")
        page.keyboard.press("k")
        assert first == page.evaluate(focused) == "Answer to fault 1"
        assert third != first
        page.keyboard.press("?")
        assert page.get_by_role("dialog").is_visible()
        page.keyboard.press("Escape")
        assert not page.get_by_role("dialog").is_visible()


def test_the_prompt_is_copied(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        found.page.keyboard.press("c")
        found.page.get_by_text("Copied.").wait_for()
        text = found.page.evaluate("navigator.clipboard.readText()")

    assert text.startswith("Tests of a Python project fail.")
    assert "gross = gross + net - tax(net, rate)" in text


def test_a_command_and_a_change_are_copied(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        answer = found.page.get_by_label("Answer to fault 1")
        copied = []
        for part in (".command + .copy", ".copy.above"):
            answer.locator(part).first.click()
            answer.locator(part, has_text="Copied").first.wait_for()
            copied.append(found.page.evaluate("navigator.clipboard.readText()"))

    assert copied[0] == "git apply .bayesloc/fixes/1-1-change-arithmetic.patch"
    assert copied[1].startswith("--- a/shop.py\n+++ b/shop.py\n@@")


def test_a_line_is_found_again_after_a_reload(browser: Browser, report: Path) -> None:
    with opened(browser, report, anchor="#shop.py:11") as found:
        found.page.reload()
        line = found.page.locator("[id='shop.py:11']")
        line.wait_for()
        box = line.bounding_box()
        assert box is not None
        assert 0 < box["y"] < HEIGHT
        assert "net - tax(net, rate)" in line.inner_text()
        assert "failing" in (line.get_attribute("title") or "")


def test_a_step_of_the_chart_opens_its_inspection(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        found.page.locator("a.step[href='#fault-1-step-1']").first.click()
        found.page.locator("#fault-1-step-1[open]").wait_for()  # the page hears of it later


def test_the_picture_of_the_calls_is_reached_by_keys(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        node = found.page.locator("a.node", has_text="total").first
        node.focus()
        found.page.keyboard.press("Enter")
        assert found.page.url.endswith("#shop.py:8")


def test_the_memory_shows_its_trials(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        memory = " ".join(found.page.locator("#memory").inner_text().split())

    assert "Fault 1 is bug" in memory
    assert "failed; 0 % of its tests pass" in memory
    assert "shop.py total" in memory


def test_paper_shows_what_is_folded(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        found.page.pdf()
        folded = found.page.locator("details:not([open])").count()
        found.page.emulate_media(media="print")
        assert folded == 0
        assert not found.page.get_by_label("Parts of the report").is_visible()


# -- for everybody, everywhere, and safe


@pytest.mark.parametrize("width", [WIDE, MIDDLE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(
    browser: Browser, report: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    pictures = Path(PICTURES) if PICTURES else tmp_path
    with opened(browser, report, width=width, scheme=scheme) as found:
        found.page.screenshot(path=pictures / f"report-{width}-{scheme}.png")
        closed = found.violations()
        found.unfold()
        unfolded = found.violations()
        overflow = found.page.evaluate("document.documentElement.scrollWidth > innerWidth")

    assert closed == []
    assert unfolded == []
    assert not overflow
    assert found.troubles == []


def test_nothing_is_asked_of_the_network(browser: Browser, report: Path) -> None:
    with opened(browser, report) as found:
        found.page.wait_for_load_state("networkidle")

    assert found.requests == [report.resolve().as_uri()]


def test_hostile_text_is_shown_and_never_run(
    browser: Browser, document: ResultDocument, tmp_path: Path
) -> None:
    file = tmp_path / "evil.html"
    spoilt = poisoned(document)
    spoilt.faults *= 12
    text = render(spoilt, lambda _: f"{EVIL}\n" * 40, f"{EVIL}\n" * 10)
    file.write_text(text, encoding="utf-8")

    with opened(browser, file) as found:
        page = found.page
        found.unfold()
        page.wait_for_timeout(500)
        assert "onerror=alert(1)" in page.locator("header").inner_text()
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 1
        assert [url for url in found.requests if not url.startswith("file:")] == []
    assert found.troubles == []


def test_a_packed_part_is_opened_by_a_link(
    browser: Browser, document: ResultDocument, tmp_path: Path
) -> None:
    tests = [f"test_shop.py::test_{i}" for i in range(5_000)]
    many = replace(document.faults[0], failing_tests=tests)
    file = tmp_path / "many.html"
    file.write_text(render(replace(document, faults=[many] * 50), lambda _: None), encoding="utf-8")
    assert "data-packed" in file.read_text("utf-8")

    with opened(browser, file, anchor="#fault-47-row-1") as found:
        row = found.page.locator("#fault-47-row-1")
        row.wait_for()
        assert row.is_visible()
        found.page.locator("#fault-47 summary", has_text="All 5000 tests").click()
        found.page.locator("#fault-47 li", has_text="test_4999").wait_for()
    assert found.troubles == []
