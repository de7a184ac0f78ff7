#!/usr/bin/env python3
"""Writes pictures.json: small PNG and JPEG files, and the pixels that Pillow and torchvision make of each.

Needs the packages `torchvision` and `pillow`; README.md here says how. Pixels of 16 bits are what NumPy makes of the numbers
that were written, since Pillow cuts gray ones off at 255. Interlaced files are written here, since Pillow writes none."""

import base64
import io
import struct
import zlib
from pathlib import Path

import numpy
import PIL
import torchvision
from PIL import Image
from torchvision.transforms import v2

from files import write_json

HERE = Path(__file__).resolve().parent
RANDOM = numpy.random.default_rng(3)


def scene(height, width, channels=3):
    """Slopes with an edge and some noise, as numbers from 0 to 255."""
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [120 + 100 * numpy.sin(x / (5 + c) + c) * numpy.cos(y / (7 - c)) + 30 * (x > width // 2) for c in range(channels)]
    noisy = numpy.stack(planes, -1) + RANDOM.normal(0, 6, (height, width, channels))
    return noisy.clip(0, 255).astype(numpy.uint8).squeeze()


def saved(image, format, **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def fitted(image, height, width, channels):
    """The middle of the picture, scaled so that it just covers the size: for squares by torchvision's transforms."""
    image = image.convert("L" if channels == 1 else "RGB")
    if height == width:
        if image.size != (width, height):
            image = v2.Compose([v2.Resize(height), v2.CenterCrop(height)])(image)
    else:
        covers_rows = image.height * width <= image.width * height
        size = (image.width * height // image.height, height) if covers_rows else (width, image.height * width // image.width)
        left, top = round((size[0] - width) / 2), round((size[1] - height) / 2)
        image = image.resize(size, Image.Resampling.BILINEAR).crop((left, top, left + width, top + height))
    return numpy.asarray(image).reshape(height, width, channels)


def case(name, content, shape, pixels=None, tolerance=0, **more):
    if pixels is None:
        pixels = fitted(Image.open(io.BytesIO(content)), *shape)
    return {"name": name, "shape": list(shape), "file": base64.b64encode(content).decode(),
            "pixels": base64.b64encode(numpy.ascontiguousarray(pixels, numpy.uint8)).decode(), "tolerance": tolerance, **more}


# --- PNG, by hand where Pillow does not write it ------------------------------------

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, bits, colour, rows, interlaced=0, more=b""):
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def lines(pixels):
    """Rows of bytes, each behind the filter 0."""
    return b"".join(b"\0" + row.tobytes() for row in pixels)


def adam7(pixels):
    passes = [(0, 8, 0, 8), (0, 8, 4, 8), (4, 8, 0, 4), (0, 4, 2, 4), (2, 4, 0, 2), (0, 2, 1, 2), (1, 2, 0, 1)]
    parts = [pixels[y::dy, x::dx] for y, dy, x, dx in passes]
    return b"".join(lines(part) for part in parts if part.size)


def wide():
    """Samples of 16 bits, as numbers and as big-endian bytes."""
    numbers = RANDOM.integers(0, 65536, (9, 11, 3))
    return numbers, numbers.astype(">u2")


def png_cases():
    colours = scene(30, 40)
    yield case("png: colours, scaled down", saved(Image.fromarray(colours), "PNG"), (16, 16, 3))
    yield case("png: colours, as they are", saved(Image.fromarray(scene(16, 16)), "PNG"), (16, 16, 3))
    yield case("png: colours, scaled up", saved(Image.fromarray(scene(13, 9)), "PNG"), (24, 24, 3))
    yield case("png: colours to a wide shape", saved(Image.fromarray(colours), "PNG"), (10, 24, 3))
    yield case("png: colours to a high shape", saved(Image.fromarray(colours), "PNG"), (25, 12, 3))
    yield case("png: much scaled down", saved(Image.fromarray(scene(97, 120)), "PNG"), (8, 8, 3))
    yield case("png: colours to gray", saved(Image.fromarray(colours), "PNG"), (16, 16, 1))
    gray = Image.fromarray(scene(20, 20, 1))
    yield case("png: gray to colours", saved(gray, "PNG"), (16, 16, 3))
    yield case("png: gray to gray", saved(gray, "PNG"), (20, 20, 1))
    yield case("png: one bit", saved(gray.convert("1"), "PNG"), (20, 20, 1))
    yield case("png: palette", saved(Image.fromarray(colours).quantize(11), "PNG"), (30, 30, 3))
    yield case("png: palette with transparency", saved(Image.fromarray(colours).quantize(11), "PNG", transparency=3), (30, 30, 3))
    clear = numpy.dstack([scene(12, 12), RANDOM.integers(0, 256, (12, 12), numpy.uint8)])
    yield case("png: colours and alpha", saved(Image.fromarray(clear), "PNG"), (12, 12, 3))
    yield case("png: gray and alpha", saved(Image.fromarray(clear).convert("LA"), "PNG"), (12, 12, 1))
    yield case("png: interlaced", png(40, 30, 8, 2, adam7(colours), interlaced=1), (30, 30, 3))
    numbers, stored = wide()
    yield case("png: 16 bits", png(11, 9, 16, 2, lines(stored)), (9, 11, 3), (numbers * 255 + 32767) // 65535)
    yield case("png: 16 bits, gray", png(11, 9, 16, 0, lines(stored[..., 0])), (9, 11, 1), (numbers[..., 0] * 255 + 32767) // 65535)
    gamma = chunk(b"gAMA", struct.pack(">I", 100000))
    yield case("png: a gamma is not applied", png(40, 30, 8, 2, lines(colours), more=gamma), (30, 30, 3))


def jpeg_cases():
    colours = Image.fromarray(scene(30, 44))
    # The decoder is another version of the same library; what scales is not.
    for name, options in {"4:2:0": {}, "4:4:4": {"subsampling": 0}, "progressive": {"progressive": True}}.items():
        yield case(f"jpeg: {name}", saved(colours, "JPEG", **options), (30, 44, 3), tolerance=1)
    yield case("jpeg: scaled", saved(colours, "JPEG"), (16, 16, 3), tolerance=1)
    yield case("jpeg: gray", saved(colours.convert("L"), "JPEG"), (30, 44, 1), tolerance=1)
    yield case("jpeg: CMYK of Adobe", saved(colours.convert("CMYK"), "JPEG"), (30, 44, 3), tolerance=2)


def refused(name, content, message):
    return {"name": name, "file": base64.b64encode(content).decode(), "message": message}


def refusals():
    good = saved(Image.fromarray(scene(30, 40)), "PNG")
    photo = saved(Image.fromarray(scene(30, 40)), "JPEG")
    yield refused("png: truncated", good[:len(good) // 2], "truncated")
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    yield refused("png: a bit flipped", bytes(flipped), "damaged PNG file")
    yield refused("png: header alone", good[:8], "damaged PNG file")
    yield refused("png: no pixels", png(0, 4, 8, 2, b""), "damaged PNG file")
    yield refused("png: 20,000 x 20,000", png(20000, 20000, 8, 2, b""), "20000 x 20000 pixels, which is more than 67 million")
    yield refused("png: 20,000 x 20,000, all black",
                  png(20000, 20000, 1, 0, bytes(2501 * 20000)), "20000 x 20000 pixels, which is more than 67 million")
    yield refused("png: more pixels than its bytes can hold", png(8000, 8000, 8, 2, b""), "cannot hold 8000 x 8000 pixels")
    yield refused("png: rows are missing", png(40, 30, 8, 2, lines(scene(20, 40))), "damaged PNG file")
    yield refused("jpeg: truncated", photo[:len(photo) // 2], "damaged JPEG file")
    yield refused("jpeg: header alone", photo[:20], "damaged JPEG file")
    big = bytearray(photo)
    size = big.index(b"\xff\xc0") + 5
    big[size:size + 4] = struct.pack(">HH", 20000, 20000)
    yield refused("jpeg: 20,000 x 20,000", bytes(big), "20000 x 20000 pixels, which is more than 67 million")
    big[size:size + 4] = struct.pack(">HH", 8000, 8000)
    yield refused("jpeg: more pixels than its bytes can hold", bytes(big), "cannot hold 8000 x 8000 pixels")
    yield refused("empty", b"", "is empty, expected a picture")
    yield refused("text", b"not a picture\n", "neither a PNG nor a JPEG file")
    yield refused("gif", b"GIF89a" + bytes(20), "neither a PNG nor a JPEG file")


def main():
    write_json(HERE / "pictures.json", {"pillow": PIL.__version__, "torchvision": torchvision.__version__,
                                        "pictures": [*png_cases(), *jpeg_cases()], "refused": list(refusals())})


if __name__ == "__main__":
    main()
