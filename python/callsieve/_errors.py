"""Exceptions of the package."""

from __future__ import annotations


class Error(Exception):
    """A call failed: a file, a setting or an input is wrong, or a run stopped.

    A bad row is never an error: it is counted, and reported with its reason.
    """

    #: What is wrong.
    message: str
    #: How to go on, if that is known.
    hint: str | None
    #: The file that the error is about, if it knows one.
    file: str | None
    #: The line in that file, from 1.
    line: int | None

    def __init__(
        self, message: str, hint: str | None = None, file: str | None = None, line: int | None = None
    ) -> None:
        # All of them are arguments, so that the exception can be pickled.
        super().__init__(message, hint, file, line)
        self.message = message
        self.hint = hint
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class InternalError(Error):
    """A bug in callsieve. Please report it."""
