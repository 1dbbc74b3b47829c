"""Encodes the messages that have the same fields in every form, for the tests."""

import json
import struct


def encode_message(message, form):
    """Returns a message, or an acknowledgement as a list of its id, as text or bytes."""
    if form == "bahay.v1" and isinstance(message, list):
        message = {"type": "ack", "id": message[0]}
    if form == "bahay.v1.compact":
        return to_msgpack(message)
    return json.dumps(message)


def to_msgpack(value):
    """Encodes a value as MessagePack, each kind in one of its forms."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        # As the server does, a number that is not negative is an unsigned one.
        return b"\xcf" + struct.pack(">Q", value) if value >= 0 else b"\xd3" + struct.pack(">q", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xda" + struct.pack(">H", len(text)) + text
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(to_msgpack, value))
    pairs = b"".join(to_msgpack(key) + to_msgpack(field) for key, field in value.items())
    return b"\xde" + struct.pack(">H", len(value)) + pairs
