"""The command ``callsieve``, in this process."""

from __future__ import annotations

import signal
import sys

from callsieve import _native


def main() -> int:
    """Run the command line of this process, and return its exit code."""
    # Ctrl-C ends the process at once, unless a command listens for it, as in the program. The handler of Python would only
    # make a note of it, which nothing reads before the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["callsieve", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
