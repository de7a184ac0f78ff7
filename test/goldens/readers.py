#!/usr/bin/env python3
"""Writes readers-safetensors.json and readers-npy.json: crafted files, and what the Python packages say of them.

Needs the packages `safetensors` and `numpy`; README.md here says how. A file is a list of parts, each a text whose
characters are bytes and how often it is repeated, so that a million brackets are one short line."""

import io
import struct
import warnings
from pathlib import Path

import numpy
import safetensors
from numpy.lib import format as npy_format

from files import write_json

HERE = Path(__file__).resolve().parent
EIGHT_BITS = "BOOL U8 I8 F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ".split()
DTYPES = {**dict.fromkeys(EIGHT_BITS, 8), "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "I16": 16, "U16": 16, "F16": 16,
          "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}


def content(parts):
    return b"".join(text.encode("latin-1") * times for text, times in parts)


# --- safetensors ------------------------------------------------------------------

def fields(dtype='"U8"', shape="[2]", offsets="[0,2]"):
    return f'{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}}}'


GOOD = fields()


def length(number):
    return struct.pack("<Q", number % 2**64).decode("latin-1")


def file(header, data="ab", claimed=None):
    """The parts of a file: a header, a text or parts, whose length is its own unless another is claimed."""
    parts = [[header, 1]] if isinstance(header, str) else header
    own = sum(len(text) * times for text, times in parts)
    return [[length(own if claimed is None else claimed), 1], *parts, [data, 1]]


def tensor(*arguments, data="ab", **options):
    return file('{"a":' + fields(*arguments, **options) + "}", data)


def named(name):
    """A tensor whose name is written so between quotes."""
    return file(f'{{"{name}":{GOOD}}}')


def utf8(text):
    return text.encode().decode("latin-1")


def sizes():
    yield "no bytes", []
    yield "seven bytes", [["\0" * 7, 1]]
    yield "header of 0 bytes", file("", "")
    yield "header of 0 bytes before data", file("", "ab")
    yield "header longer than the file", file("{}", "", claimed=3)
    yield "header shorter than its object", file("{}", "", claimed=1)
    yield "header of -1 bytes", file("{}", "", claimed=-1)
    yield "header of 2**63 bytes", file("{}", "", claimed=2**63)
    yield "header of 100,000,000 bytes that are not there", file("{}", "", claimed=10**8)
    yield "header of 100,000,001 bytes", file("{}", "", claimed=10**8 + 1)
    yield "length in big-endian", [["\0" * 7 + "\2{}", 1]]
    yield "an empty object", file("{}", "")
    yield "an empty object before data", file("{}", "a")
    yield "one tensor", file(f'{{"a":{GOOD}}}')
    for blank in " \n\t\r":
        yield f"{blank!r} before the header", file(blank + "{}", "")
        yield f"{blank!r} after the header", file("{}" + blank * 9, "")
    yield "NUL after the header", file("{}\0", "")
    yield "a letter after the header", file("{}x", "")
    yield "two objects", file("{}{}", "")
    yield "vertical tab before the header", file("\v{}", "")
    yield "byte order mark", file(utf8("\ufeff{}"), "")
    yield "an array", file("[]", "")
    yield "a string", file('"a"', "")
    yield "null", file("null", "")
    yield "a number", file("1", "")
    yield "a pickle", [["\x80\x04\x95" + "\0" * 40, 1]]


def json_texts():
    for name, text in {"comma too many": f'{{"a":{GOOD},}}', "comma first": f'{{,"a":{GOOD}}}',
                       "no comma": f'{{"a":{GOOD} "b":{GOOD}}}', "no colon": f'{{"a" {GOOD}}}',
                       "two colons": f'{{"a"::{GOOD}}}', "not closed": f'{{"a":{GOOD}', "closed twice": f'{{"a":{GOOD}}}}}',
                       "other bracket": f'{{"a":{GOOD}]', "comment": f'{{/**/"a":{GOOD}}}', "key without quotes": f"{{a:{GOOD}}}",
                       "key in single quotes": f"{{'a':{GOOD}}}", "key a number": f"{{1:{GOOD}}}", "blanks": f'{{ "a"\t:\r\n{GOOD} }}',
                       "name without end": '{"a', "name ends in a backslash": '{"a\\', "capital null": '{"__metadata__":NULL}',
                       "a tensor null": '{"a":null}', "a tensor a number": '{"a":1}', "a tensor a string": '{"a":"U8"}',
                       "a tensor an empty object": '{"a":{}}', "a tensor an empty array": '{"a":[]}'}.items():
        yield name, file(text)
    for digits in ["02", "+2", "2.0", "2e0", "1e1", "-2", "-0", "2.", ".2", "2e", "0x2", "2_0", "NaN", "Infinity", "1e400",
                   "18446744073709551616", "true", "null", '"2"', "[2]", "2 2", "--2", "2-", "２"]:
        yield f"size {digits}", tensor(shape=f"[{utf8(digits)}]")
        yield f"offset {digits}", tensor(offsets=f"[0,{utf8(digits)}]")
    yield "shape with a comma too many", tensor(shape="[2,]")
    yield "shape with a comma alone", tensor(shape="[,]")
    yield "shape not closed", file('{"a":{"dtype":"U8","shape":[2')


def strings():
    for name, text in {"empty": "", "escapes": r"\"\\\/\b\f\n\r\t", "escaped letter": r"\u0061", "escaped NUL": r"\u0000",
                       "surrogate pair": r"\ud83d\ude00", "first half alone": r"\ud83d", "first half before a letter": r"\ud83da",
                       "first half before another escape": r"\ud83d\n", "first half twice": r"\ud83d\ud83d",
                       "second half alone": r"\ude00", "halves in the wrong order": r"\ude00\ud83d",
                       "escape of two digits": r"\x41", "escape of three digits": r"\u041", "escape not hexadecimal": r"\u00g1",
                       "unknown escape": r"\a", "escape of a blank": r"\ ", "upper case escape": r"\U0061", "control character": "\x01",
                       "line feed": "\n", "tab": "\t", "delete": "\x7f", "C1 control": utf8("\x9b"), "umlaut": utf8("ä"),
                       "emoji": utf8("😀"), "noncharacter": utf8("\uffff"), "Latin-1": "\xe4", "byte 0xff": "\xff",
                       "cut UTF-8": "\xe2\x82", "overlong UTF-8": "\xc0\x80", "UTF-8 of a surrogate": "\xed\xa0\x80",
                       "UTF-8 above U+10FFFF": "\xf4\x90\x80\x80", "UTF-8 of five bytes": "\xf8\x88\x80\x80\x80",
                       "continuation alone": "\x80", "4096 letters": "x" * 4096}.items():
        yield f"name: {name}", named(text)
    for name, text in {"line feeds": [r"\n", 9], "an escape sequence": [r"\u001b[2J", 1], "a million letters": ["x", 10**6]}.items():
        yield f"name for a message: {name}", file([['{"', 1], text, ['":{}}', 1]])
    yield "dtype with an escape", tensor(r'"\u00558"')
    yield "key with an escape", file('{"a":' + GOOD.replace("dtype", r"dtyp\u0065") + "}")
    yield "__metadata__ with an escape", file(r'{"__metadata_\u005f":{"a":"b"}}', "")


def objects():
    other = fields(offsets="[2,4]")
    yield "two tensors", file(f'{{"a":{GOOD},"b":{other}}}', "abcd")
    yield "two tensors, the second first", file(f'{{"b":{other},"a":{GOOD}}}', "abcd")
    yield "equal tensors of one name", file(f'{{"a":{GOOD},"a":{GOOD}}}')
    yield "tensors of one name, the first fits", file(f'{{"a":{GOOD},"a":{other}}}')
    yield "tensors of one name, the last fits", file(f'{{"a":{other},"a":{GOOD}}}')
    yield "tensors of one name, both fit", file(f'{{"a":{GOOD},"a":{other}}}', "abcd")
    yield "tensors of one name, one with an escape", file(f'{{"a":{GOOD},"\\u0061":{GOOD}}}')
    yield "tensors of one name, one malformed", file(f'{{"a":1,"a":{GOOD}}}')
    for key, value in {"dtype": '"U8"', "shape": "[2]", "data_offsets": "[0,2]"}.items():
        pair = f'"{key}":{value}'
        yield f"{key} twice", file('{"a":' + GOOD.replace(pair, f"{pair},{pair}") + "}")
        yield f"{key} missing", file('{"a":' + GOOD.replace(pair, '"x":1') + "}")
        yield f"{key} null", file('{"a":' + GOOD.replace(pair, f'"{key}":null') + "}")
        yield f"{key} an object", file('{"a":' + GOOD.replace(pair, f'"{key}":{{}}') + "}")
        yield f"{key} in capitals", file('{"a":' + GOOD.replace(key, key.upper()) + "}")
    for name, value in {"number": "1", "float": "1.5e-3", "1e400": "1e400", "1e-400": "1e-400", "0e9999": "0e9999",
                        "true": "true", "string": '"x"', "object": '{"y":[1,{}]}', "nan": "NaN", "02": "02", "lone half": r'"\ud800"',
                        "400 digits": "1" * 400, "400 digits after the point": "0." + "1" * 400, "11e9223372036854775807": "11e9223372036854775807", "11e-9223372036854775808": "11e-9223372036854775808",
                        "0e99999999999999999999": "0e99999999999999999999", "1e99999999999999999999": "1e99999999999999999999",
                        "1e-99999999999999999999": "1e-99999999999999999999", "0.0...01e350": "0." + "0" * 60 + "1e350",
                        "0.0...01e400": "0." + "0" * 60 + "1e400"}.items():
        yield f"another key: {name}", file('{"a":' + GOOD[:-1] + f',"x":{value}}}}}')
    yield "another key twice", file('{"a":' + GOOD[:-1] + ',"x":1,"x":2}}')
    yield "a tensor as an array", file('{"a":["U8",[2],[0,2]]}')
    yield "a dtype as an object", tensor('{"U8":null}')


def metadata():
    for name, text in {"empty": "{}", "null": "null", "one": '{"a":"b"}', "key twice": '{"a":"b","a":"c"}', "number": '{"a":1}',
                       "null in it": '{"a":null}', "object in it": '{"a":{}}', "array": "[]", "string": '"a"', "a tensor": GOOD,
                       "escapes": r'{"\n\u00e4":"\ud83d\ude00"}', "lone half": r'{"a":"\ud83d"}', "bad UTF-8": '{"a":"\xff"}'}.items():
        yield f"metadata: {name}", file(f'{{"__metadata__":{text}}}', "")
    yield "metadata twice", file('{"__metadata__":{},"__metadata__":{}}', "")
    yield "metadata after a tensor", file(f'{{"a":{GOOD},"__metadata__":{{"b":"c"}}}}')
    yield "metadata in capitals", file('{"__METADATA__":{"a":"b"}}', "")


def nesting():
    for depth in [100, 125, 126, 1000]:
        yield f"another key: {depth} arrays", file('{"a":' + GOOD[:-1] + ',"x":' + "[" * depth + "]" * depth + "}}")
        yield f"another key: {depth} objects", file('{"a":' + GOOD[:-1] + ',"x":' + '{"":' * depth + "1" + "}" * depth + "}}")
    for opening in ["[", '{"a":', '{"a":[']:
        yield f"a million of {opening}", file([['{"a":', 1], [opening, 10**6]], "")
    yield "a million arrays as a shape", file([['{"a":{"shape":', 1], ["[", 10**6]], "")
    yield "a million arrays as metadata", file([['{"__metadata__":', 1], ["[", 10**6]], "")
    yield "a million quotes", file([['{"', 1], ['"', 10**6]], "")
    yield "a million backslashes", file([['{"', 1], ["\\", 10**6]], "")


def places():
    for name, offsets, data in [("gap at the beginning", "[1,3]", "abc"), ("gap at the end", "[0,2]", "abc"),
                                ("beyond the data", "[0,2]", "a"), ("beyond 2**63", "[0,9223372036854775808]", "ab"),
                                ("reverse", "[2,0]", "ab"), ("reverse beyond the data", "[9,7]", "ab"),
                                ("fewer bytes than the shape", "[0,1]", "a"), ("more bytes than the shape", "[0,3]", "abc"),
                                ("one number", "[0]", "ab"), ("three numbers", "[0,2,2]", "ab"), ("no number", "[]", "ab"),
                                ("largest numbers", "[18446744073709551614,18446744073709551615]", "ab")]:
        yield f"offsets: {name}", tensor(offsets=offsets, data=data)
    for name, first, second, data in [
            ("overlap", "[0,2]", "[1,3]", "abc"), ("equal", "[0,2]", "[0,2]", "ab"), ("gap", "[0,2]", "[3,5]", "abcde"),
            ("swapped", "[2,4]", "[0,2]", "abcd"), ("data left over", "[0,2]", "[2,4]", "abcde")]:
        yield f"two tensors: {name}", file(f'{{"a":{fields(offsets=first)},"b":{fields(offsets=second)}}}', data)
    for at in range(4):
        yield f"empty tensor at {at} of 2", file(f'{{"a":{GOOD},"b":{fields(shape="[0]", offsets=f"[{at},{at}]")}}}')
    yield "two empty tensors at 1", file(f'{{"a":{fields(shape="[0]", offsets="[1,1]")},"b":{fields(shape="[0]", offsets="[1,1]")}}}', "")


def shapes():
    yield "rank 0", tensor(shape="[]", offsets="[0,1]", data="a")
    yield "rank 0 of two bytes", tensor(shape="[]")
    yield "rank 100", tensor(shape="[" + ",".join(["1"] * 100) + "]", offsets="[0,1]", data="a")
    big = 2**64 - 1
    for shape in [[4194305, 4194305, 211106198978564], [2**32, 2**32], [2**63], [big], [0, big], [big, 0], [2**60, 0], [2**61, 0],
                  [2**62, 2, 0], [big, 2, 0], [0, big, big], [2**59], [2**60], [2**61], [0], [0, 0], [1, 0], [0, 2**62, 2**62]]:
        for dtype in ["U8", "F64"]:
            yield f"shape {shape} {dtype}", tensor(f'"{dtype}"', shape=str(shape), offsets="[0,0]", data="")
    yield "shape [4194305, 4194305, 211106198978564] with 4 bytes", tensor(
        shape="[4194305,4194305,211106198978564]", offsets="[0,4]", data="abcd")


def dtypes():
    for dtype, bits in DTYPES.items():
        yield f"dtype {dtype}", tensor(f'"{dtype}"', "[8]", f"[0,{bits}]", data="\1" * bits)
    for dtype in ["F4", "F6_E2M3", "F6_E3M2"]:
        for count in [1, 2, 3, 4]:
            most = -(-count * DTYPES[dtype] // 8)
            yield f"{count} of {dtype}", tensor(f'"{dtype}"', f"[{count}]", f"[0,{most}]", data="a" * most)
    for dtype in ["u8", "F128", "F8_E4M3FN", "I4", "U4", "C128", "INT8", "", " U8", "U8 ", "F32\\u0000"]:
        yield f"unknown dtype {dtype!r}", tensor(f'"{dtype}"')
    for dtype in ["1", "true", '["U8"]', '{"U8":1}', '{"U8":null,"I8":null}']:
        yield f"dtype {dtype}", tensor(dtype)
    yield "NaN in the data", tensor('"F32"', "[2]", "[0,8]", data="\0\0\xc0\x7f\1\0\x80\xff")
    yield "booleans other than 0 and 1", tensor('"BOOL"', data="\1\2")
    yield "a usable tensor beside one of U16", file(f'{{"a":{fields()},"b":{fields(chr(34) + "U16" + chr(34), "[1]", "[2,4]")}}}', "abcd")


def verdict(data):
    """The tensors and the metadata, as far as they are small, or the error of the package."""
    try:
        found = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        return {"error": str(error)[:100]}
    return {"tensors": {name: [t["dtype"], [str(n) for n in t["shape"]], bytes(t["data"]).decode("latin-1")]
                        for name, t in sorted(found)}}


def safetensors_goldens():
    groups = [sizes, json_texts, strings, objects, metadata, nesting, places, shapes, dtypes]
    cases = [{"name": name, "parts": parts, **verdict(content(parts))} for group in groups for name, parts in group()]
    return {"safetensors": safetensors.__version__, "cases": cases}


# --- npy ----------------------------------------------------------------------------

def npy(header, data="abcdef", version=(1, 0), claimed=None, blanks=0):
    """The parts of a file: a header, spaces after it, and the data."""
    size = len(header) + blanks if claimed is None else claimed
    packed = struct.pack("<H" if version[0] == 1 else "<I", size).decode("latin-1")
    return [["\x93NUMPY" + "".join(map(chr, version)) + packed + header, 1], [" ", blanks], [data, 1]]


def fill(descr="'|u1'", order="False", shape="(2, 3)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def npy_frames():
    good = fill()
    for name, text in {"as written": good + "\n", "without line feed": good, "junk": good + " junk", "semicolon": good + ";", "comma": good + ",",
                       "twice": good + good, "NUL": good + "\0", "two line feeds": good + "\n\n", "blank before": " " + good,
                       "tab before": "\t" + good, "line feed before": "\n" + good, "indented": "\n " + good, "not closed": good[:-1],
                       "other bracket": good.replace("(", "["), "no entry": "{}", "nothing": "", "a list": "[]", "None": "None", "a set": "{'a'}",
                       "a string": "'x'", "a call": "dict(descr='|u1', fortran_order=False, shape=(2, 3))", "code": "__import__('os').abort()",
                       "unpacking": "{**{}, " + good[1:], "comprehension": "{a: 1 for a in 'x'}", "comment": good + " # c", "in parentheses": f"({good})",
                       "form feed": good.replace(", ", ",\f"), "vertical tab": good.replace(", ", ",\v"), "no-break space": good.replace(", ", ",\xa0"),
                       "CR LF": good.replace(", ", ",\r\n"), "tight": good.replace(" ", ""), "two commas": good.replace(", }", ",, }"),
                       "no comma": good.replace("', ", "' "), "spaces": good.replace(":", " : ").replace(",", " , ")}.items():
        yield f"header: {name}", npy(text)
    for name, text in {"in another order": "{'shape': (2, 3), 'fortran_order': False, 'descr': '|u1'}",
                       "in double quotes": good.replace("'descr'", '"descr"'), "bytes": good.replace("'descr'", "b'descr'"),
                       "descr twice": "{'descr': '<f8', " + good[1:], "fortran_order twice": "{'fortran_order': True, " + good[1:],
                       "shape twice": "{'shape': (7,), " + good[1:], "shape twice, the first fits": good[:-1] + "'shape': (7,)}",
                       "one more": good[:-1] + "'x': 1}", "no shape": "{'descr': '|u1', 'fortran_order': False}",
                       "no fortran_order": "{'descr': '|u1', 'shape': (2, 3)}", "no descr": "{'fortran_order': False, 'shape': (2, 3)}",
                       "in capitals": good.replace("shape", "SHAPE"), "with a blank": good.replace("'shape'", "'shape '")}.items():
        yield f"keys: {name}", npy(text)
    for version in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (255, 255)]:
        yield f"version {version}", npy(good, version=version)
    yield "version 3 of Python 2's sizes", npy(fill(shape="(2L, 3L)"), version=(3, 0))
    yield "version 3, not UTF-8", npy(fill("'\xff'"), version=(3, 0))
    for size in [9999, 10000, 10001, 60000]:
        yield f"header of {size} bytes", npy(good, blanks=size - len(good))
    yield "no bytes", []
    yield "cut magic", [["\x93NUM", 1]]
    yield "other magic", [["\x92NUMPY\1\0", 1]]
    yield "cut length", [["\x93NUMPY\1\0\5", 1]]
    yield "header longer than the file", npy(good, claimed=1000)
    yield "header longer than the file, version 2", npy(good, version=(2, 0), claimed=2**32 - 1)
    yield "a zip archive", [["PK\3\4" + "\0" * 60, 1]]
    yield "data missing", npy(good, "abcde")
    yield "data left over", npy(good, "abcdefg")


def npy_values():
    for order in ["True", "False", "Falsehood", "Truer", "false", "0", "1", "None", "'False'", "not True", "False or True", "(False)", ""]:
        yield f"fortran_order {order}", npy(fill(order=order))
    for shape in ["(2,3)", "( 2 ,\n3 )", "(2, 3,)", "(6,)", "(6)", "6", "[2, 3]", "{2, 3}", "()", "(,)", "(,2)", "(2 3)", "(2,,3)", "(2, 3", "(2, 3))",
                  "(2L, 3L)", "(+2, 3)", "(-2, -3)", "(-1,)", "(-6,)", "(02, 3)", "(00,)", "(0, 3)", "(0x2, 3)", "(2.0, 3)", "(2e0, 3)", "(True, 6)", "(1_0,)",
                  "(2, '3')", "(2+1,)", "(2, 3j)", "(None,)", "((2, 3),)", "(18446744073709551616, 0)", "(9223372036854775808,)",
                  "(9223372036854775807, 9223372036854775807)", "(4294967296, 4294967296)", "(4194305, 4194305, 211106198978564)"]:
        yield f"shape {shape}", npy(fill(shape=shape), {"()": "a"}.get(shape, ""))
        if "2" in shape or "6" in shape:
            yield f"shape {shape} with data", npy(fill(shape=shape))
    for descr in ["'u1'", "'<u1'", "'>u1'", "'=u1'", "'|i1'", "'|b1'", "'?'", "'uint8'", '"|u1"', "'|u1 '", "' |u1'", "'U1'", "'|S1'", "'|V1'", "'|O'", "'O'",
                  "u'|u1'", "b'|u1'", "'|u' '1'", r"'\x7cu1'", "'|u1", "'''|u1'''", "'|u01'", "('|u1', (1,))", "[('a', '|u1')]", "'|q9'", "''", "None",
                  "1", "open", "'u1,u1'", "'<<u1'", "'|b2'", "'|u3'"]:
        yield f"descr {descr}", npy(fill(descr), "\1" * 6)
    for descr, width in {"<f2": 2, "<f4": 4, "<f8": 8, "<i2": 2, "<u2": 2, "<i4": 4, "<u4": 4, "<i8": 8, "<u8": 8, "<c8": 8, "<c16": 16, "<f16": 16,
                         "f4": 4, "=f4": 4, "|f4": 4, ">f4": 4, ">i8": 8, ">f2": 2, "<U1": 4, "<M8[s]": 8, "<m8": 8, "float32": 4, "<i4,<f4": 8}.items():
        yield f"descr {descr!r}", npy(fill(f"'{descr}'"), "\0" * 6 * width)


def npy_verdict(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            array = npy_format.read_array(io.BytesIO(data))
        except Exception as error:  # NumPy raises whatever Python's parser does
            return {"error": f"{type(error).__name__}: {error}".split(" at 0x")[0][:100]}
    return {"descr": npy_format.dtype_to_descr(array.dtype) if array.dtype.names is None else "structured",
            "fortran": bool(array.flags.f_contiguous and not array.flags.c_contiguous), "shape": list(array.shape)}


def npy_goldens():
    cases = [{"name": name, "parts": parts, **npy_verdict(content(parts))} for group in [npy_frames, npy_values] for name, parts in group()]
    return {"numpy": numpy.__version__, "cases": cases}


def main():
    write_json(HERE / "readers-safetensors.json", safetensors_goldens())
    write_json(HERE / "readers-npy.json", npy_goldens())


if __name__ == "__main__":
    main()
