"""Changes between two versions are all there is to say of the difference."""

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.viewer.outline import OutlineEntry
from rag_engine.viewer.versions import VersionChanges, VersionText, compare_versions

OLD = "Plans\n\nEach council must prepare a local flood plan within six years.\n\nPenalties\n\nA fine is due.\n\nEnd."
NEW = (
    "Plans\n\nEach council must prepare a local flood plan within three years.\n\nPenalties\n\nA fine is due.\n\n"
    "The minister reports to the assembly each spring.\n\nEnd."
)


def version(text: str) -> VersionText:
    titles = [one for one in ("Plans", "Penalties") if one in text]
    return VersionText(
        text, tuple(OutlineEntry(one, 0, text.index(one), text.index(one) + len(one), 1) for one in titles)
    )


def shown(changes: VersionChanges) -> list[tuple[str, list[str]]]:
    """Each heading with its paragraphs, removed words in [-brackets-], added ones in {+braces+}."""
    signs = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return [
        (
            one.heading,
            [" ".join(signs[p.kind].format(p.text) for p in paragraph.pieces) for paragraph in one.paragraphs],
        )
        for one in changes.sections
    ]


def test_changes_are_shown_under_their_headings_with_the_words_around_them() -> None:
    changes = compare_versions(version(OLD), version(NEW))
    assert shown(changes) == [
        ("Plans", ["Each council must prepare a local flood plan within [-six-] {+three+} years."]),
        ("Penalties", ["{+The minister reports to the assembly each spring.+}"]),
    ]
    assert (changes.removed, changes.added) == (1, 9)


def test_a_removed_paragraph_is_placed_in_the_older_version() -> None:
    changes = compare_versions(version(NEW), version(OLD))
    [paragraph] = changes.sections[1].paragraphs
    assert paragraph.removed
    assert NEW[paragraph.start :].startswith("The minister reports")


def test_an_amended_paragraph_is_placed_in_the_newer_version() -> None:
    changes = compare_versions(version(OLD), version("Foreword. " * 30 + "\n\n" + NEW))
    amended = next(one for section in changes.sections for one in section.paragraphs if len(one.pieces) > 1)
    assert ("Foreword. " * 30 + "\n\n" + NEW)[amended.start :].startswith("Each council")


def test_spacing_and_line_breaks_are_no_change() -> None:
    assert compare_versions(version(OLD), version(OLD.replace("must prepare", "must\nprepare "))).sections == ()


def test_a_few_equal_words_between_two_changes_are_not_kept_apart() -> None:
    old = VersionText("The board of the district of Bern shall meet in the old town hall by the river.")
    new = VersionText("The board of the canton of Uri shall meet in the old town hall by the river.")
    assert shown(compare_versions(old, new)) == [
        (
            "",
            ["The board of the [-district of Bern-] {+canton of Uri+} shall meet in the old town hall by the river."],
        )
    ]


def test_paragraphs_that_share_little_are_one_removed_and_one_added() -> None:
    old, new = VersionText("Fees are set yearly."), VersionText("Wardens walk along the crest.")
    assert shown(compare_versions(old, new)) == [
        ("", ["[-Fees are set yearly.-]", "{+Wardens walk along the crest.+}"])
    ]


_VERSIONS = st.lists(
    st.lists(st.sampled_from(["flood", "plan", "council", "year", "the"]), min_size=1, max_size=6).map(" ".join),
    max_size=8,
).map("\n\n".join)


@given(_VERSIONS, _VERSIONS)
def test_what_is_not_added_is_the_older_version_and_what_is_not_removed_the_newer(old: str, new: str) -> None:
    changes = compare_versions(VersionText(old), VersionText(new))
    pieces = [piece for one in changes.sections for paragraph in one.paragraphs for piece in paragraph.pieces]
    words = {
        kind: sorted(word for one in pieces if one.kind in ("same", kind) for word in one.text.split())
        for kind in ("removed", "added")
    }
    unchanged = _left(sorted(old.split()), words["removed"])
    assert unchanged == _left(sorted(new.split()), words["added"])


def _left(words: list[str], gone: list[str]) -> list[str]:
    left = list(words)
    for word in gone:
        left.remove(word)
    return left
