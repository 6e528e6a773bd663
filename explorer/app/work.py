"""Jobs as pages use them: ask for a result, show progress until it is there, let people cancel."""

from __future__ import annotations

import time
import uuid
from typing import Any

import streamlit as st

from explorer.app import state
from explorer.app.jobs import Job, Lane
from explorer.files import short_hash

POLL_SECONDS = 0.7


@st.cache_resource(show_spinner=False)
def lane(name: str) -> Lane:
    """One lane a server process, shared by all sessions; its worker starts soon."""
    made = Lane(name)
    made.warm_up()
    return made


def session_id() -> str:
    """A name for this session among the watchers of a job."""
    return st.session_state.setdefault("session_id", uuid.uuid4().hex)


def run_job(label: str, target: str, slot: str, lane_name: str = "measures", **arguments: Any) -> Any:
    """Return the result of a job, or None while it runs (its progress is shown) and after it failed (and why).

    ``slot`` is the place on the pages that shows this result: when something else is asked for in the same
    place, this session no longer waits for the job before.
    """
    key = short_hash(target, repr(sorted(arguments.items())), str(_versions(arguments)))
    _leave_previous(slot, key, lane_name)
    if st.session_state.get("cancelled") == key:
        st.info(f"{label} was cancelled.")
        st.button("Run it again", key=f"again-{key}", on_click=st.session_state.pop, args=("cancelled",))
        return None
    job = lane(lane_name).submit(key, label, f"explorer.app.tasks:{target}", session_id(), **arguments)
    if job.state == "done":
        return job.result
    if job.state == "failed":
        st.error(job.error)
        st.button("Try again", key=f"again-{key}", on_click=lane(lane_name).forget, args=(key,))
        return None
    _progress(job, lane_name)
    return None


def measure_of(label: str, slot: str, identity: str, measure: str, params: dict, items: list[int] | None = None) -> Any:
    """Compute a single measure of a representation, on all items or on some; None until it is there."""
    return run_job(
        f"{label} of {state.load(identity).name}",
        "single",
        slot,
        stores=state.store_paths(),
        identity=identity,
        items=items,
        measure=measure,
        params=params,
    )


def _leave_previous(slot: str, key: str, lane_name: str) -> None:
    held = st.session_state.setdefault("slots", {})
    before = held.get(slot)
    if before and before != key and key not in held.values():
        lane(lane_name).leave(before, session_id())
    held[slot] = key


def _versions(arguments: dict[str, Any]) -> list[int]:
    lists = (arguments.get(name, []) for name in ("identities", "xs", "ys"))
    asked = [arguments.get("identity"), *(i for found in lists for i in found)]
    return [state.file_version(i) for i in asked if i]


def _progress(job: Job, lane_name: str) -> None:
    @st.fragment(run_every=POLL_SECONDS)
    def panel() -> None:
        if not job.active:
            st.rerun()
        ahead = lane(lane_name).ahead(job)
        waiting = f"waiting for {ahead} other job(s)" if ahead else f"{job.note or 'starting'}{_time(job)}"
        st.progress(min(max(job.share, 0.0), 1.0), text=f"{job.label}: {waiting}")
        st.button("Cancel", key=f"cancel-{job.key}", on_click=_cancel, args=(job, lane_name))

    panel()


def _time(job: Job) -> str:
    """How long a job has run, and how long it will yet where its progress tells."""
    elapsed = time.time() - job.started if job.started else 0.0
    if elapsed < 1:
        return ""
    left = f", about {elapsed * (1 - job.share) / job.share:.0f} s left" if job.share > 0.15 else ""
    return f" ({elapsed:.0f} s so far{left})"


def _cancel(job: Job, lane_name: str) -> None:
    lane(lane_name).leave(job.key, session_id())
    st.session_state["cancelled"] = job.key
