"""What the tests of HTML pages share: headless Chromium, and the elements and pictures that it makes of a page."""

import re
import shutil
import struct
import subprocess
import zlib
from html.parser import HTMLParser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(HTMLParser):
    """The page's elements, the text of each kind of them, and everything that could load something."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.loads, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open.append(tag)
        for name, value in attributes:
            local = name == "href" and (value or "").startswith("#")
            if not local and (name in ("src", "href", "xlink:href", "srcset", "action", "style") or name.startswith("on")):
                self.loads.append(f"<{tag} {name}={value!r}>")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))

    def count(self, tag, kind=None):
        return sum(name == tag and (kind is None or kind in (attributes.get("class") or "").split())
                   for name, attributes in self.elements)


def browser():
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    raise SystemExit("no Chromium: apt-get install chromium")


def open_page(arguments, path, *flags):
    """Returns Chromium's output; it can reach no host."""
    profile = arguments.work / "chromium"
    shutil.rmtree(profile, ignore_errors=True)
    return subprocess.run(
        [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
         "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}", *flags,
         path.resolve().as_uri()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120,
        check=True).stdout


def colours(path):
    """(width, height, how many different colours) of a PNG of 8 bits a channel."""
    data, position, packed = path.read_bytes(), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    while position < len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        body = data[position + 8:position + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", body)
        packed += body if kind == b"IDAT" else b""
        position += 12 + length
    assert depth == 8 and colour in (2, 6), (depth, colour)
    channels, lines, before = (3 if colour == 2 else 4), zlib.decompress(packed), None
    seen = set()
    for y in range(height):
        line = unfiltered(lines[y * (width * channels + 1):(y + 1) * (width * channels + 1)], before, channels)
        seen.update(bytes(line[x:x + 3]) for x in range(0, len(line), 7 * channels))
        before = line
    return width, height, len(seen)


def unfiltered(line, before, channels):
    """A line of a PNG without its filter (the PNG specification, section 9)."""
    kind, line = line[0], bytearray(line[1:])
    above = before or bytes(len(line))
    if kind == 2:
        return bytearray((a + b) & 255 for a, b in zip(line, above))
    for i in range(len(line) if kind else 0):
        left, corner = (line[i - channels], above[i - channels]) if i >= channels else (0, 0)
        guess = left + above[i] - corner
        nearest = min((left, above[i], corner), key=lambda value: abs(guess - value))
        line[i] = (line[i] + (left, None, (left + above[i]) // 2, nearest)[kind - 1]) & 255
    return line


class Faults(list):
    def expect(self, holds, text):
        if not holds:
            self.append(text)


def check_pictures(arguments, faults, name, path, sizes):
    """Draws a page in windows of these sizes: pictures NAME-0.png, ... that are not blank."""
    for number, size in enumerate(sizes):
        shot = arguments.work / f"{name}-{number}.png"
        shot.unlink(missing_ok=True)
        open_page(arguments, path, f"--screenshot={shot}", f"--window-size={size[0]},{size[1]}")
        width, height, different = colours(shot)
        faults.expect((width, height) == size and different >= 20,
                      f"{name}: screenshot {number} has {width} x {height} pixels of {different} colours")
