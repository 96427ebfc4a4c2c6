"""Protocol buffers' wire format: fields of a message, read and written."""

from __future__ import annotations

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class MalformedError(ValueError):
    """The bytes are no message."""


def varint(value):
    """A number of up to 64 bits as a varint; negative ones as their complement."""
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def bytes_field(number, data):
    """A field of a string, a message or packed numbers."""
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def take_varint(data, at):
    """The varint at a place, and the place behind it."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise MalformedError("a number is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def signed(value):
    """An int64 from its 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """Yields number, type and value of each field."""
    data = bytes(data)
    at = 0
    while at < len(data):
        tag, at = take_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise MalformedError("a field has the number 0")
        if kind == VARINT:
            value, at = take_varint(data, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            if at + size > len(data):
                raise MalformedError("a number is cut off")
            value = data[at : at + size]
            at += size
        elif kind == BYTES:
            size, at = take_varint(data, at)
            if at + size > len(data):
                raise MalformedError("a field reaches beyond the end")
            value = data[at : at + size]
            at += size
        else:
            raise MalformedError(f"wire type {kind} is not supported")
        yield number, kind, value


def floats(kind, value):
    """The float32 numbers of a field, packed or single."""
    if kind not in (BYTES, FIXED32) or len(value) % 4:
        raise MalformedError("a list of floats is malformed")
    return struct.unpack(f"<{len(value) // 4}f", value)


def integers(kind, value):
    """The int64 numbers of a field, packed or single."""
    if kind == VARINT:
        return [signed(value)]
    if kind != BYTES:
        raise MalformedError("a list of integers is malformed")
    out, at = [], 0
    while at < len(value):
        number, at = take_varint(value, at)
        out.append(signed(number))
    return out
