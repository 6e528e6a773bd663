"""Page configuration and navigation."""

from __future__ import annotations

import streamlit as st


def main() -> None:
    """Run the page that the URL names."""
    st.set_page_config(page_title="Representation Geometry Explorer", page_icon="🧭", layout="wide")
    from explorer.app import state
    from explorer.app.pages import (
        alignment,
        curvature,
        geometry,
        methods,
        models,
        profiles,
        topology,
        workspace,
    )
    from explorer.errors import ExplorerError

    st.html("<style>.block-container{padding-top:3.2rem;padding-bottom:2rem}</style>")
    pages = [
        st.Page(workspace.page, title="Workspace", icon=":material/home:", url_path="workspace", default=True),
        st.Page(models.page, title="Models & data", icon=":material/model_training:", url_path="models"),
        st.Page(geometry.page, title="Geometry", icon=":material/scatter_plot:", url_path="geometry"),
        st.Page(alignment.page, title="Alignment", icon=":material/grid_on:", url_path="alignment"),
        st.Page(profiles.page, title="Layer profiles", icon=":material/show_chart:", url_path="profiles"),
        st.Page(topology.page, title="Topology", icon=":material/donut_large:", url_path="topology"),
        st.Page(curvature.page, title="Curvature", icon=":material/hub:", url_path="curvature"),
        st.Page(methods.page, title="Methods", icon=":material/menu_book:", url_path="methods"),
    ]
    st.session_state["pages"] = {page.url_path or "workspace": page for page in pages}
    chosen = st.navigation(pages)
    # Start the workers with the first session, so that they are warm when the first job comes.
    state.lane("measures")
    try:
        chosen.run()
    except ExplorerError as error:
        st.error(str(error))


if __name__ == "__main__":
    main()
