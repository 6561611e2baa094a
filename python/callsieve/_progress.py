"""Progress of long calls."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Union


@dataclass(frozen=True)
class Progress:
    """One event of a long call."""

    #: A step begins or ends, has processed rows or bytes, waits, got answers of a language model; or a warning.
    kind: Literal["begin", "rows", "bytes", "answers", "wait", "end", "warning"]
    #: The step: ``ingest``, the name of a stage, ``export``, ``ledger``.
    step: str
    #: How many rows, bytes or answers the step has processed.
    done: int | None
    #: How many there are, if that is known.
    total: int | None
    #: What the step did, what it waits for, or the warning.
    text: str


class CallsieveWarning(UserWarning):
    """What a user should know about a run, such as lines that cannot be read."""


#: `None` prints to a terminal only, `True` always, `False` never; or a callable that gets each event.
ProgressOption = Union[bool, Callable[[Progress], object], None]


class Reporter:
    """Passes the events of a call on, and keeps its warnings."""

    def __init__(self, progress: ProgressOption) -> None:
        self.warnings: list[str] = []
        if progress is None:
            progress = sys.stderr is not None and sys.stderr.isatty()
        self._report = _printed if progress is True else progress

    def __call__(self, kind: str, step: str, done: int | None, total: int | None, text: str) -> None:
        event = Progress(kind, step, done, total, text)  # type: ignore[arg-type]
        if kind == "warning":
            # The same may be reported more than once.
            if text in self.warnings:
                return
            self.warnings.append(text)
            if not self._report:
                warnings.warn(text, CallsieveWarning, stacklevel=4)
        if callable(self._report):
            self._report(event)


def _printed(event: Progress) -> None:
    """Print an event as the command does: a line for each step, and one that changes while a step works."""
    if event.kind == "warning":
        print(f"warning: {event.text}", file=sys.stderr)
    elif event.kind in ("end", "wait"):
        print(f"\r{event.step:24} {event.text}", file=sys.stderr, flush=True)
    elif event.kind != "begin" and event.total:
        share = 100 * (event.done or 0) // event.total
        print(f"\r{event.step:24} {share:3} %", end="", file=sys.stderr, flush=True)
