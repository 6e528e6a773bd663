"""Jobs outside the server process: a lane per resource, one job at a time in each, shared by all sessions.

A lane is a spawned process. Progress comes back over a pipe. Cancelling asks first and then kills, so that a
kernel that holds the interpreter's lock or never returns (ripser) cannot freeze the server.
"""

from __future__ import annotations

import importlib
import multiprocessing
import threading
import time
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from explorer.errors import ExplorerError

GRACE_SECONDS = 1.0
KEEP_FINISHED = 64


class Cancelled(Exception):
    """Raised inside a job by its progress report when the job is no longer wanted."""


def _serve(connection: Connection, stop: Any, threads: int) -> None:
    """The worker process: run one task after the other until the server goes away."""
    import os
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    # Pages come first: a computation that takes every cycle must not make the app sluggish.
    if hasattr(os, "nice"):
        os.nice(10)

    def report(share: float, note: str = "") -> None:
        connection.send(("progress", float(share), note))
        if stop.is_set():
            raise Cancelled

    while True:
        try:
            target, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            module, _, name = target.partition(":")
            found = getattr(importlib.import_module(module), name)(report, **arguments)
            connection.send(("done", found, ""))
        except Cancelled:
            connection.send(("cancelled", None, ""))
        except ExplorerError as error:
            connection.send(("failed", None, str(error)))
        except BaseException as error:
            traceback.print_exc()
            said = str(error).splitlines()[0] if str(error) else "no message"
            connection.send(("failed", None, f"An unexpected {type(error).__name__} stopped the job: {said}"))


@dataclass
class Job:
    """One piece of work; its key says what it computes, so the same request from two sessions is one job."""

    key: str
    label: str
    target: str
    arguments: dict[str, Any]
    state: str = "queued"
    share: float = 0.0
    note: str = ""
    result: Any = None
    error: str = ""
    started: float = 0.0
    watchers: set[str] = field(default_factory=set)

    @property
    def active(self) -> bool:
        """Whether it is waiting or running."""
        return self.state in ("queued", "running")


class Lane:
    """A queue with one worker process."""

    def __init__(self, name: str, threads: int = 1) -> None:
        self.name, self.threads = name, threads
        self.jobs: OrderedDict[str, Job] = OrderedDict()
        self._queue: deque[Job] = deque()
        self._changed = threading.Condition()
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._connection: Any = None
        self._stop: Any = None
        threading.Thread(target=self._loop, name=f"lane-{name}", daemon=True).start()

    def submit(self, key: str, label: str, target: str, watcher: str, **arguments: Any) -> Job:
        """Queue ``module:function``, or join the job that already computes this key."""
        with self._changed:
            job = self.jobs.get(key)
            if job is None or job.state == "cancelled":
                job = self.jobs[key] = Job(key, label, target, arguments)
                self._queue.append(job)
            job.watchers.add(watcher)
            self.jobs.move_to_end(key)
            finished = [k for k, j in self.jobs.items() if not j.active]
            for old in finished[: max(0, len(finished) - KEEP_FINISHED)]:
                del self.jobs[old]
            self._changed.notify()
            return job

    def forget(self, key: str) -> None:
        """Drop a finished job, so that it can be tried again."""
        with self._changed:
            job = self.jobs.get(key)
            if job is not None and not job.active:
                del self.jobs[key]

    def ahead(self, job: Job) -> int:
        """How many jobs come before this one."""
        with self._changed:
            if job not in self._queue:
                return 0
            return list(self._queue).index(job) + any(j.state == "running" for j in self.jobs.values())

    def leave(self, key: str, watcher: str) -> None:
        """One session no longer wants this job; it stops when nobody does."""
        with self._changed:
            job = self.jobs.get(key)
            if job is None or not job.active:
                return
            job.watchers.discard(watcher)
            if job.watchers:
                return
            if job.state == "queued":
                self._queue.remove(job)
                job.state = "cancelled"
            else:
                job.note = "stopping"
                self._stop.set()

    def warm_up(self, delay: float = 4.0) -> None:
        """Start the worker, and let it import what jobs need, before the first job comes.

        It waits a moment, since on two cores it would delay the first page.
        """
        arguments = ("warm-up", "Starting", "explorer.app.tasks:warm_up", "server")
        timer = threading.Timer(delay, self.submit, arguments, {"lane": self.name})
        timer.daemon = True
        timer.start()

    def _ensure_process(self) -> None:
        if self._process is None or not self._process.is_alive():
            self._connection, child = self._context.Pipe()
            self._stop = self._context.Event()
            self._process = self._context.Process(
                target=_serve, args=(child, self._stop, self.threads), daemon=True, name=f"lane-{self.name}"
            )
            self._process.start()
            child.close()

    def _loop(self) -> None:
        while True:
            with self._changed:
                while not self._queue:
                    self._changed.wait()
                job = self._queue.popleft()
                job.state, job.started = "running", time.time()
            try:
                self._ensure_process()
                self._stop.clear()
                self._connection.send((job.target, job.arguments))
                self._follow(job)
            except (EOFError, OSError):
                self._process.join(5)
                job.error = f"The worker ended (exit code {self._process.exitcode}); it may have run out of memory."
                job.state = "failed"

    def _follow(self, job: Job) -> None:
        asked: float | None = None
        while True:
            if self._stop.is_set():
                asked = asked or time.time()
                if time.time() - asked > GRACE_SECONDS:
                    self._process.kill()
                    self._process.join()
                    job.state = "cancelled"
                    return
            if not self._connection.poll(0.05):
                continue
            kind, value, text = self._connection.recv()
            if kind == "progress":
                job.share, job.note = value, text
                continue
            if kind == "done":
                job.result, job.share = value, 1.0
            job.error, job.state = text, kind
            return


Report = Callable[[float, str], None]
