"""The script that the app runs once a session: page configuration and navigation.

It lies outside explorer/app because Streamlit takes a folder called ``pages`` beside the script for pages of its own.
"""

from __future__ import annotations

import streamlit as st


def main(first: str = "workspace") -> None:
    """Run the page that the URL names, else the ``first`` one."""
    st.set_page_config(page_title="Representation Geometry Explorer", page_icon="🧭", layout="wide")
    from explorer.app import work
    from explorer.app.pages import (
        alignment,
        curvature,
        dimension,
        geometry,
        methods,
        models,
        profiles,
        topology,
        trust,
        workspace,
    )
    from explorer.errors import ExplorerError

    st.html("<style>.block-container{padding-top:3.2rem;padding-bottom:2rem}</style>")
    described = [
        (workspace.page, "Workspace", "home", "workspace"),
        (models.page, "Models & data", "model_training", "models"),
        (geometry.page, "Geometry", "scatter_plot", "geometry"),
        (alignment.page, "Alignment", "grid_on", "alignment"),
        (profiles.page, "Layer profiles", "show_chart", "profiles"),
        (dimension.page, "Dimension & spectrum", "straighten", "dimension"),
        (topology.page, "Topology", "donut_large", "topology"),
        (curvature.page, "Curvature", "hub", "curvature"),
        (methods.page, "Methods", "menu_book", "methods"),
        (trust.page, "Trust", "verified", "trust"),
    ]
    pages = {
        path: st.Page(page, title=title, icon=f":material/{icon}:", url_path=path, default=path == first)
        for page, title, icon, path in described
    }
    st.session_state["pages"] = pages
    chosen = st.navigation(list(pages.values()))
    # Start the workers with the first session, so that they are warm when the first job comes.
    work.lane("measures")
    try:
        chosen.run()
    except ExplorerError as error:
        st.error(str(error))


if __name__ == "__main__":
    main()
