"""The page list and the frame; `streamlit run app.py` starts here."""

from pages._shared.frame import open_frame

open_frame().run()
