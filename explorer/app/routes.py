"""Routes beside Streamlit's own: the plotly.js that the plotly package ships, and content-addressed payloads."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from explorer.app import blobs


def plotly_script() -> Path:
    """The minified plotly.js inside the installed plotly package."""
    spec = importlib.util.find_spec("plotly")
    assert spec is not None and spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0], "package_data", "plotly.min.js")


def base() -> str:
    """'' or '/prefix': routes of ours are not prefixed by server.baseUrlPath on their own."""
    prefix = (st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{prefix}" if prefix else ""


async def serve_plotly(request: Request) -> Response:
    """Serve plotly.js from this machine; nothing is fetched from elsewhere."""
    return FileResponse(
        plotly_script(), media_type="text/javascript", headers={"Cache-Control": "public, max-age=86400"}
    )


async def serve_blob(request: Request) -> Response:
    """Serve a payload by the hash of its content, which nobody can guess."""
    found = blobs.get(request.path_params["key"])
    if found is None:
        return Response(status_code=404)
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(found, media_type="application/octet-stream", headers=headers)


def routes() -> list[Route]:
    """All routes of ours."""
    return [Route(f"{base()}/x/plotly.min.js", serve_plotly), Route(f"{base()}/x/blob/{{key}}", serve_blob)]
