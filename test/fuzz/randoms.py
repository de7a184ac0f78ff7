"""Dropout, by the bits of Philox."""

import math

import numpy as np

from bounded import UNIT, Bounded
from graph import Type

#: From an op in one time step of a scan to the same in the next.
STREAMS_PER_TIME_STEP = 1 << 16


def random_words(count, key):
    """Philox4x32-10 (Salmon et al., 2011) of `count` elements; `key` is seed, stream, attempt and micro-batch."""
    low = np.uint64(2**32 - 1)
    index = np.arange(count, dtype=np.uint64)
    a = index >> np.uint64(2) & low
    second, c, d = (np.full(count, part & int(low), np.uint64) for part in key[1:])
    seed = [key[0] & int(low), key[0] >> 32 & int(low)]
    for _ in range(10):
        left, right = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, second, c, d = ((right >> np.uint64(32)) ^ second ^ np.uint64(seed[0]), right & low,
                       (left >> np.uint64(32)) ^ d ^ np.uint64(seed[1]), left & low)
        seed = [(part + weyl) & int(low) for part, weyl in zip(seed, (0x9E3779B9, 0xBB67AE85))]
    return np.choose((index & np.uint64(3)).astype(int), [a, second, c, d])


def factors(words, p):
    """What elements are multiplied by, which rounds, as the factor does."""
    return Bounded(np.where(words < p * 2**32, 0, 1 / (1 - p))).loosened(2 * UNIT["f32"])


def key(g):
    """Seed and attempt."""
    return [g.input(Type("i64", ()), g.rng.integers(0, 1 << 40)) for _ in range(2)]


def dropout(g, operand=None, given=None, stream=None, p=None, step=0):
    """An op of a graph, or of a time step."""
    operand = operand or g.pick_float()
    if operand is None:
        return None
    given = given or key(g)
    stream = g.fresh_stream() if stream is None else stream
    p = p or g.choice([0.5, 0.2])
    own, shape = stream + step * STREAMS_PER_TIME_STEP, operand.type.shape

    def kept(seed, attempt):
        words = random_words(math.prod(shape), [int(seed.value), own, int(attempt.value), 0])
        return factors(words.reshape(shape), p)
    return g.add("mp.dropout", [operand, *given], operand.type, lambda x, *parts: x * kept(*parts),
                 lambda gradient, operands, _: [gradient * kept(*operands[1:]), None, None],
                 attributes=f" stream({own}) key({given[0].name}, {given[1].name}) {{p = {p}}}", listed=1)
