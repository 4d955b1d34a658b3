"""The page in a real browser: no error, no request, boxes where the quote is, nothing serious for axe-core."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from arbiter_rag import Arbiter, Brief, ParsedDocument, RetrievalResult
from arbiter_rag.audit import AuditRecord
from arbiter_rag.report import report
from arbiter_rag.testing import ScriptedJudge

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1200,1600",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Debian's Chromium without a window."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("there is no chromium with its chromedriver (apt install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*QUIET, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield made
    made.quit()


def _open(browser: Any, page: str, folder: Path) -> None:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    browser.get_log("performance")
    browser.get(file.as_uri())


def _requests(browser: Any) -> list[str]:
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith(("file:", "data:"))]


def _theme(browser: Any, name: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": name}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def test_no_error_and_no_request(
    browser: Any, hostile: tuple[RetrievalResult, ParsedDocument], record: AuditRecord, policy: ParsedDocument,
    tmp_path: Path,
) -> None:  # fmt: skip
    for page in (report(*hostile), report(record, policy), report(record)):
        _open(browser, page, tmp_path)
        assert browser.get_log("browser") == []
        assert _requests(browser) == []
        assert browser.execute_script("return document.scripts.length") == 0
        for element in browser.find_elements("tag name", "details"):
            browser.execute_script("arguments[0].open = true", element)
        assert browser.get_log("browser") == []
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_boxes_are_where_the_quote_is(
    browser: Any, record: AuditRecord, policy: ParsedDocument, tmp_path: Path
) -> None:
    _open(browser, report(record, policy), tmp_path)
    drawn = browser.execute_script(_BOXES)
    assert record.result is not None
    expected = {c.candidate_id: c for c in record.result.candidates if c.quote_scope and c.quote_scope.boxes}
    assert expected
    checked = 0
    for view in drawn:
        candidate = expected.get(view["id"])
        if candidate is None or candidate.quote_scope is None:
            continue
        lines = policy.line_df
        place = candidate.quote_scope
        if view["page"] != place.page_start:  # the passage begins on the page before
            assert not view["quoted"]
            continue
        assert place.page_start == place.page_end
        rows = lines[(lines["page"] == view["page"]) & lines["line"].between(place.line_start, place.line_end)]
        size = policy.page_df.iloc[view["page"] - 1]
        scale = float(size["width"])
        boxes = rows[["x0", "y0", "x1", "y1"]].to_numpy().tolist()
        shown = [[g * scale for g in got] for got in view["quoted"]]
        # The judge reads chosen lines: a quote over several of them may leave out those between.
        assert all(any(got == pytest.approx(want, abs=1.0) for want in boxes) for got in shown)
        assert shown[0] == pytest.approx(boxes[0], abs=1.0)
        assert shown[-1] == pytest.approx(boxes[-1], abs=1.0)
        first = " ".join(rows["text"].iloc[0].split())
        assert (candidate.quote or "").split()[0] in first
        checked += 1
    assert checked == len(expected)


_BOXES = """
return [...document.querySelectorAll('article')].flatMap(article =>
  [...article.querySelectorAll('svg')].map(svg => {
    const outer = svg.querySelector('use').getBoundingClientRect(), scale = outer.width;
    const box = r => {
      const b = r.getBBox(), m = r.getScreenCTM();
      const p = (x, y) => { const q = new DOMPoint(x, y).matrixTransform(m);
                            return [(q.x - outer.left) / scale, (q.y - outer.top) / scale]; };
      return [...p(b.x, b.y), ...p(b.x + b.width, b.y + b.height)];
    };
    return {
      id: article.querySelector('h3').id.slice(2).replace(/-[a-z]+$/, ''),
      page: Number(svg.dataset.page),
      quoted: [...svg.querySelectorAll('rect.quoted')].map(box),
    };
  }));
"""


def test_axe_has_nothing_serious_to_say(
    browser: Any, hostile: tuple[RetrievalResult, ParsedDocument], record: AuditRecord, policy: ParsedDocument,
    tmp_path: Path,
) -> None:  # fmt: skip
    found = find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core-python brings axe-core")
    script = (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    missing = Arbiter().retrieve("Who won the chess tournament in Reykjavik?", policy)
    for page in (report(record, policy), report(*hostile), report(missing, policy)):
        for theme in ("light", "dark"):
            _open(browser, page, tmp_path)
            _theme(browser, theme)
            for element in browser.find_elements("tag name", "details"):
                browser.execute_script("arguments[0].open = true", element)
            browser.execute_script(script)
            result = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
            told = [(v["id"], v["impact"], [n["html"][:120] for n in v["nodes"][:3]]) for v in result["violations"]]
            assert not told


def test_the_keyboard_reaches_what_folds_and_scrolls(browser: Any, record: AuditRecord, tmp_path: Path) -> None:
    _open(browser, report(record), tmp_path)
    from selenium.webdriver.common.keys import Keys

    body = browser.find_element("tag name", "body")
    reached: list[str] = []
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(browser.switch_to.active_element.tag_name)
    assert reached[0] == "a"
    assert browser.find_element("class name", "skip").get_attribute("href").endswith("#verdict")
    assert reached.count("summary") >= 2
    assert body.is_displayed()


def test_paper_shows_what_is_folded(browser: Any, policy: ParsedDocument, tmp_path: Path) -> None:
    import base64

    import pymupdf

    def reply(brief: Brief) -> dict[str, object]:
        ids = [c.candidate_id for c in brief.candidates]
        return {"rankings": [{"candidate_id": i, "reason": f"not about {i}", "role": "discarded"} for i in ids]}

    result = Arbiter(ScriptedJudge(reply)).retrieve("What is the deductible for water damage?", policy)
    assert result.discarded
    _open(browser, report(result, policy), tmp_path)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"]
    with pymupdf.open(stream=base64.b64decode(printed), filetype="pdf") as paper:
        text = " ".join(" ".join(page.get_text().split()) for page in paper)
    assert result.discarded[0].reason in text
    assert "What it cost" in text
