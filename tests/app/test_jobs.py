"""Lanes: progress, one job for the same request, cancelling even what does not listen, crashes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from explorer.app.jobs import Job, Lane


@pytest.fixture
def lane() -> Iterator[Lane]:
    made = Lane("test")
    yield made
    if made._process is not None:
        made._process.kill()


def wait(job: Job, seconds: float = 40) -> Job:
    end = time.time() + seconds
    while job.active and time.time() < end:
        time.sleep(0.02)
    assert not job.active, job
    return job


def test_progress_result_and_sharing(lane: Lane) -> None:
    first = lane.submit("k", "pause", "explorer.app.tasks:pause", "a", seconds=0.6)
    assert lane.submit("k", "pause", "explorer.app.tasks:pause", "b", seconds=0.6) is first
    waiting = lane.submit("k2", "pause", "explorer.app.tasks:pause", "b", seconds=0.1)
    shares = set()
    while first.active:
        shares.add(round(first.share, 1))
        if first.state == "running":
            assert lane.ahead(waiting) == 1
        time.sleep(0.02)
    assert first.state == "done" and first.result == 0.6
    assert len(shares) > 3
    assert wait(waiting).state == "done"


def test_one_watcher_leaving_does_not_stop_it_the_last_does(lane: Lane) -> None:
    job = lane.submit("k", "pause", "explorer.app.tasks:pause", "a", seconds=30)
    lane.submit("k", "pause", "explorer.app.tasks:pause", "b", seconds=30)
    while job.state != "running" or job.share == 0:
        time.sleep(0.02)
    lane.leave("k", "a")
    time.sleep(0.3)
    assert job.active
    lane.leave("k", "b")
    assert wait(job, 5).state == "cancelled"
    assert wait(lane.submit("k", "pause", "explorer.app.tasks:pause", "a", seconds=0.1)).state == "done"


def test_a_job_that_never_listens_is_killed_and_the_next_one_runs(lane: Lane) -> None:
    job = lane.submit("k", "sleep", "tests.app.stubborn:sleep", "a", seconds=60)
    while job.state != "running" or job.share == 0:
        time.sleep(0.02)
    started = time.time()
    lane.leave("k", "a")
    assert wait(job, 6).state == "cancelled"
    assert time.time() - started < 4
    assert wait(lane.submit("k2", "pause", "explorer.app.tasks:pause", "a", seconds=0.1)).state == "done"


def test_a_queued_job_can_be_cancelled(lane: Lane) -> None:
    lane.submit("k", "pause", "explorer.app.tasks:pause", "a", seconds=1)
    waiting = lane.submit("k2", "pause", "explorer.app.tasks:pause", "a", seconds=1)
    lane.leave("k2", "a")
    assert waiting.state == "cancelled"


def test_errors_are_sentences_and_crashes_do_not_stop_the_lane(lane: Lane) -> None:
    bad = lane.submit("e", "bad", "tests.app.stubborn:refuse", "a")
    assert wait(bad).error == "The layer is missing."
    odd = lane.submit("f", "odd", "tests.app.stubborn:stumble", "a")
    assert "unexpected KeyError stopped the job: 'x'" in wait(odd).error
    dead = lane.submit("g", "dead", "tests.app.stubborn:die", "a")
    assert "exit code 9" in wait(dead).error
    assert wait(lane.submit("h", "pause", "explorer.app.tasks:pause", "a", seconds=0.1)).state == "done"
