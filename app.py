"""Run with: streamlit run app.py"""

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

import explorer
from explorer.app.routes import routes

# `streamlit run` finds this object by reading the file, serves its routes, and runs the script once a session.
app = st.App(Path(explorer.__file__).with_name("main.py"), routes=routes())

# AppTest executes this file as a script: show the same pages there.
if get_script_run_ctx(suppress_warning=True) is not None:
    from explorer.main import main

    main()
