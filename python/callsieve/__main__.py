"""The command ``callsieve``, in this process."""

from __future__ import annotations

import sys

from callsieve import _native


def main() -> int:
    """Run the command line of this process, and return its exit code."""
    return _native.command(["callsieve", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
