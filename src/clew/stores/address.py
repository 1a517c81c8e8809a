"""What an address of a database must not have."""

from __future__ import annotations

import re

from clew.errors import UsageError


def check_address(address: str) -> None:
    """Raise UsageError, which does not show the address, for a user or password with a raw `/`, `?` or `#`.

    Such an address would have its host before the sign, and the rest of the password in its path.
    """
    location = address.partition("://")[2]
    place = re.split("[/?#]", location, maxsplit=1)[0]
    if ":" in place and "@" in location[len(place) :]:
        raise UsageError(
            "The address has an @ behind its first /, ? or #, so that its password would be read as a path. "
            "Write the signs of a password as %2F, %3F, %23 and %40, and an @ of a path as %40"
        )
