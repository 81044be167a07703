"""The app, for `streamlit run app.py` or any ASGI server.

Each session runs this file as its script.
"""

import os
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit.file_util import get_static_dir
from streamlit.runtime.scriptrunner import get_script_run_ctx

from cli.serve.browser_code import with_address, with_code_in_memory
from cli.serve.browser_requests import RequestRules, checked_requests
from cli.serve.source_code import SOURCE_ADDRESS, SOURCE_CODE
from pages._shared.errors import show_errors
from pages._shared.frame import EVERY_PAGE, PAGE_NAMES, close_frame, open_frame, warm_up
from pages._shared.login import guarded, keep_login
from pages._uploads.bounds import bounded_uploads

if get_script_run_ctx(suppress_warning=True) is None:
    rules = RequestRules(st.get_option("server.allowedHosts"), st.get_option("server.corsAllowedOrigins"))
    # The first is the outermost: whatever is answered bears the headers.
    middleware = [
        Middleware(checked_requests, rules),
        Middleware(guarded),
        Middleware(bounded_uploads),
        Middleware(with_code_in_memory, Path(get_static_dir()) / "static"),
        Middleware(with_address, PAGE_NAMES, Path(get_static_dir()), EVERY_PAGE),
    ]
    app = st.App(__file__, routes=[SOURCE_CODE], middleware=middleware)
    os.umask(0o077)
    keep_login()
    warm_up()
else:
    # Around all of it: where the collection cannot be opened there is no page to run.
    with show_errors():
        open_frame().run()
    close_frame(SOURCE_ADDRESS)
