"""The command line; `app` names the commands and the modules that they are in."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(100_000)  # objects; by Python's own number a question collects 139 times in 0.06 s
    try:
        from clew.cli.app import app
        from clew.cli.console import prepare_streams
        from clew.foundation.redaction import keep_address

        for argument in sys.argv[1:]:
            keep_address(argument)
        prepare_streams()
        app(prog_name="clew")
    except KeyboardInterrupt:  # before or after the command, where nothing was begun
        sys.exit(130)
