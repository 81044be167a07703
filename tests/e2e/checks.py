"""Checks of a page as it is drawn: violations by axe, and whether a phone shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

# Pixels across and down.
PHONE = (390, 844)
# (rule of axe, what it finds): inside Streamlit's own markup, where no theme, style or attribute of ours cures it.
_STREAMLIT = {
    # The drop zone of the file uploader has a name and no role; the button in it is what counts.
    ("presentation-role-conflict", "stFileUploaderDropzone"),
}


# A frame tells the page of its new colours, and it is drawn in them by the next.
_TWO_FRAMES = "async () => { for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame); }"
# What turns for ever has no end. The promise `finished` of a transition may never be kept: its state is looked at.
_TRANSITIONS_ENDED = """() => document.getAnimations().every(
  one => one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity)"""


def settle(page: Page) -> None:
    """Wait until the page is drawn whole: until then old parts are faded, and colours change slowly."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    expect(page.locator("[data-testid=stSkeleton], [data-stale=true]")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    page.evaluate(_TWO_FRAMES)
    page.wait_for_function(_TRANSITIONS_ENDED)


def has_no_violation(page: Page) -> None:
    """Expect one heading of the page, and nothing that axe objects to."""
    expect(page.locator("h1")).to_have_count(1)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    violations = "\n".join(_violations(found))
    assert not violations, violations


def fits_a_phone(page: Page) -> None:
    """Expect a closed sidebar, and nothing for which the page scrolls sideways."""
    expect(page.get_by_test_id("stSidebarContent")).not_to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def _violations(found: list[dict[str, Any]]) -> Iterator[str]:
    for rule in found:
        for node in rule["nodes"]:
            if not any(rule["id"] == known and part in node["html"] for known, part in _STREAMLIT):
                yield f"{rule['impact']} {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
