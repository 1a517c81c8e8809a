"""The command line: `clew index`, `ask`, `match` and `info`; one file a command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        from clew.cli.app import app
        from clew.cli.console import prepare_streams
        from clew.redaction import keep_address

        for given in sys.argv[1:]:
            keep_address(given)
        prepare_streams()
        app(prog_name="clew")
    except KeyboardInterrupt:  # before or after the command, where nothing was begun
        sys.exit(130)
