"""What a process of queries and its parent tell each other: eight bytes of a length, then MessagePack."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import isfinite
from typing import IO

import msgspec

from clew.stores.errors import QueryError

LARGEST_REPLY = 64 * 2**20
"""Bytes of the rows of a query."""
_DATE, _DATETIME, _DURATION = 1, 2, 3


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message with its length before it."""
    stream.write(len(message).to_bytes(8, "big") + message)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes | None:
    """Read a message; None at the end of the stream or of a process that died in the middle of one."""
    head = stream.read(8)
    size = int.from_bytes(head, "big")
    if len(head) < 8 or size > 2 * LARGEST_REPLY:
        return None
    message = stream.read(size)
    return message if len(message) == size else None


def of_extension(code: int, data: memoryview) -> object:
    """Read a date, time or duration as `plain` writes it."""
    text = bytes(data).decode("ascii")
    if code == _DATE:
        return dt.date.fromisoformat(text)
    if code == _DATETIME:
        return dt.datetime.fromisoformat(text)
    days, seconds, micros = map(int, text.split(","))
    return dt.timedelta(days, seconds, micros)


def plain(value: object) -> object:
    """Turn a value of a database into what MessagePack can hold."""
    match value:
        case float() if not isfinite(value):
            raise QueryError("A value of the result is no finite number (log(0), 1.0 / 0). Leave it out")
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case dt.datetime():
            return msgspec.msgpack.Ext(_DATETIME, value.isoformat().encode())
        case dt.date():
            return msgspec.msgpack.Ext(_DATE, value.isoformat().encode())
        case dt.timedelta():
            parts = (value.days, value.seconds, value.microseconds)
            return msgspec.msgpack.Ext(_DURATION, ",".join(map(str, parts)).encode())
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case _:
            return str(value)


def packed(rows: Iterable[Sequence[object]], most: int) -> list[msgspec.Raw]:
    """Write at most `most` rows; QueryError if they are too large for a reply."""
    encoder, messages, size = msgspec.msgpack.Encoder(), list[msgspec.Raw](), 0
    for row in rows:
        message = encoder.encode(plain(row))
        size += len(message)
        if size > LARGEST_REPLY:
            raise QueryError(f"Its rows are larger than {LARGEST_REPLY >> 20} MiB. Return less of them")
        messages.append(msgspec.Raw(message))
        if len(messages) == most:
            break
    return messages
