"""Jobs that misbehave, for test_jobs.py."""

from __future__ import annotations

import os
import time

from explorer.app.jobs import Report
from explorer.errors import ExplorerError


def sleep(report: Report, seconds: float) -> None:
    report(0.1, "asleep")
    time.sleep(seconds)


def refuse(report: Report) -> None:
    raise ExplorerError("The layer is missing.")


def stumble(report: Report) -> None:
    raise KeyError("x")


def die(report: Report) -> None:
    os._exit(9)
