"""The page list and the frame; `streamlit run app.py` starts here."""

from pages._shared.errors import told
from pages._shared.frame import open_frame

# Around all of it: where the collection cannot be opened there is no page to run.
with told():
    open_frame().run()
