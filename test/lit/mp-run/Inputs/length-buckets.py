"""data: texts of 1 to 16 tokens for zoo:bert-tiny in buckets/. in-order EPOCHS SEED: the same texts in padded/, in the
order in which batches from buckets take them. wrong-length: sample 1 says that it has 4 tokens. same RUN OTHER: how far
two runs' metrics are from one another. bits RUN OTHER: whether their checkpoints and metrics have the same bits.
scores FILE OTHER: how far two evaluations are from one another. sizes TRACE: how many programs a run has linked."""

import json
import math
import random
import struct
import sys
from pathlib import Path

BUCKETS, BATCH, TOKENS = (4, 8, 16), 8, 16


def save(path, code, descr, rows, shape):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    values = [value for row in rows for value in row]
    data = struct.pack(f"<{len(values)}{code}", *values)
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data)


def texts():
    """Texts and their classes: a multiple of BATCH in each bucket."""
    random.seed(1)
    counts = ((1, 4, 40), (5, 8, 32), (9, 16, 24))
    lengths = [random.randint(low, high) for low, high, count in counts for _ in range(count)]
    random.shuffle(lengths)
    samples = [[random.randint(1, 63) for _ in range(length)] for length in lengths]
    return [(tokens, int(tokens[0] > 31)) for tokens in samples]


def write(folder, samples):
    folder.mkdir(exist_ok=True)
    for source in "train", "test":
        of = lambda name: folder / f"{source}{name}.npy"
        padded = [tokens + [0] * (TOKENS - len(tokens)) for tokens, _ in samples]
        save(of(""), "H", "<u2", padded, (len(samples), TOKENS))
        save(of("-lengths"), "i", "<i4", [[len(tokens)] for tokens, _ in samples], (len(samples),))
        save(of("-labels"), "i", "<i4", [[label] for _, label in samples], (len(samples),))


def philox(counter, key):
    """Philox4x32-10 of Salmon et al. (2011)."""
    c, (low, high) = list(counter), key
    for _ in range(10):
        one, two = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [two >> 32 ^ c[1] ^ low, two & 0xFFFFFFFF, one >> 32 ^ c[3] ^ high, one & 0xFFFFFFFF]
        low, high = low + 0x9E3779B9 & 0xFFFFFFFF, high + 0xBB67AE85 & 0xFFFFFFFF
    return c


def shuffled(seed, epoch, count, tag):
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        bits = philox((last, 0, epoch, 0), (seed, int.from_bytes(tag, "big")))
        pick = (bits[0] << 32 | bits[1]) * (last + 1) >> 64
        order[last], order[pick] = order[pick], order[last]
    return order


def in_order(epochs, seed):
    samples, taken = texts(), []
    for epoch in range(int(epochs)):
        order = shuffled(int(seed), epoch, len(samples), b"shuf")
        batches = []
        for low, high in zip((0,) + BUCKETS, BUCKETS):
            own = [sample for sample in order if low < len(samples[sample][0]) <= high]
            batches += [own[first:first + BATCH] for first in range(0, len(own), BATCH)]
        for batch in shuffled(int(seed), epoch, len(batches), b"batc"):
            taken += [samples[sample] for sample in batches[batch]]
    write(Path("padded"), taken)


def wrong_length():
    lengths = [len(tokens) for tokens, _ in texts()]
    assert lengths[1] > 4
    lengths[1] = 4
    save(Path("buckets/train-lengths.npy"), "i", "<i4", [lengths], (len(lengths),))


def steps(run):
    return [json.loads(line) for line in (Path(run) / "metrics.jsonl").read_text().splitlines()]


def report(name, pairs, tolerance):
    far = max(abs(one - other) / max(abs(other), 1e-6) for one, other in pairs)
    print(name, f"near in {len(pairs)}" if far <= tolerance else f"FAR: {far}")


def same(run, other):
    for key, tolerance in ("lr", 0), ("accuracy", 0), ("loss", 2e-6), ("grad_norm", 1e-5):
        report(key, [(one[key], two[key]) for one, two in zip(steps(run), steps(other), strict=True)], tolerance)


def bits(run, other):
    timeless = lambda run: [dict(step, samples_per_second=0) for step in steps(run)]
    data = [(Path(each) / "checkpoint.safetensors").read_bytes() for each in (run, other)]
    print("the same bits" if data[0] == data[1] and timeless(run) == timeless(other) else "OTHER bits")


def scores(file, other):
    numbers = [[float(line.split()[-1]) for line in Path(name).read_text().splitlines()] for name in (file, other)]
    report("scores", list(zip(*numbers, strict=True)), 1e-5)


def sizes(trace):
    events = json.loads(Path(trace).read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    print(sum(event.get("name") == "link" for event in events), "programs")


if __name__ == "__main__":
    {"data": lambda: write(Path("buckets"), texts()), "in-order": in_order, "wrong-length": wrong_length, "same": same,
     "bits": bits, "scores": scores, "sizes": sizes}[sys.argv[1]](*sys.argv[2:])
