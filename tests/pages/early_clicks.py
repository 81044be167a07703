"""A click that still sends the values of the page before."""

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest


def sent(app: AppTest) -> list[WidgetState]:
    """Return the values of the widgets of a page, and what was clicked in it, as a browser sends them."""
    assert app._tree is not None
    widgets = app._tree.get_widget_states().widgets
    return [one for one in widgets if one.WhichOneof("value") != "trigger_value" or one.trigger_value]


def click_early(app: AppTest, gone: list[WidgetState]) -> None:
    """Run a page with what was clicked in it, for a browser that still has the widgets of the page before."""
    now = sent(app)
    there = {one.id for one in now}
    app._run(WidgetStates(widgets=[*(one for one in gone if one.id not in there), *now]))
    assert not app.exception
