"""Reads event files as TFRecords of protocol buffers by the formats' descriptions, and compares them with the JSON of a run."""

import json
import struct
import sys
from pathlib import Path


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        head = data[at:at + 8]
        length, = struct.unpack("<Q", head)
        body = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(head), "checksum of a length"
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body), "checksum of a record"
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        match tag & 7:
            case 0:
                value, at = varint(data, at)
            case 1:
                value, at = struct.unpack_from("<d", data, at)[0], at + 8
            case 2:
                length, at = varint(data, at)
                value, at = data[at:at + length], at + length
            case 5:
                value, at = struct.unpack_from("<f", data, at)[0], at + 4
            case kind:
                raise AssertionError(f"wire type {kind}")
        found.append((tag >> 3, value))
    return found


def scalars(run):
    """{(tag, step): value}; a start of a session drops what was said of its step and later ones."""
    known = {}
    for path in sorted(Path(run).glob("events.out.tfevents.*"), key=lambda path: (path.name.split(".")[3], path.stat().st_mtime)):
        for index, record in enumerate(records(path.read_bytes())):
            event = dict(fields(record))
            step = event.get(2, 0)
            if index == 0:
                assert event[3] == b"brain.Event:2", event
            if 7 in event and dict(fields(event[7]))[1] == 1:
                known = {key: value for key, value in known.items() if key[1] < step}
            for number, value in fields(event.get(5, b"")):
                value = dict(fields(value))
                known[value[1].decode(), step] = value[2]
    return known


def same(one, other):
    if other is None:
        return one != one or abs(one) == float("inf")
    return one == struct.unpack("<f", struct.pack("<f", other))[0]


def expected(run, scales={"scale": "loss_scale"}):
    def lines(name):
        return [json.loads(line) for line in (Path(run) / name).read_text().splitlines()]
    for line in lines("metrics.jsonl"):
        for name, value in line.items():
            if name != "step":
                yield f"train/{scales.get(name, name)}", line["step"], value
    for line in lines("evaluations.jsonl"):
        for name, value in line.items():
            if name not in ("step", "epoch", "seconds"):
                yield f"test/{name}", line["step"], value


def main(run):
    found, wanted = scalars(run), list(expected(run))
    for tag, step, value in wanted:
        if not same(found.pop((tag, step)), value):
            sys.exit(f"{tag} of step {step}: expected {value}")
    if found:
        sys.exit(f"unexpected: {found}")
    print(len(wanted), "scalars")


if __name__ == "__main__":
    main(sys.argv[1])
