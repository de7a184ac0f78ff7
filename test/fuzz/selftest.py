#!/usr/bin/env python3
"""The oracle against itself: its gradients are what differences of its values say.

Without rounding, along a random direction, in f64, near what the graph has: inputs that are zero by design lie on kinks. A graph
at a kink may differ for one size of the difference; it may not for all of them.
"""

import argparse
import sys

import numpy as np

import bounded
import generate
from bounded import Bounded

SIZES = (1e-4, 1e-5, 1e-6, 1e-7)


def moved(value, rng):
    """An input's numbers, a little moved."""
    return Bounded(value.number.value + 1e-3 * rng.standard_normal(value.type.shape)) if value.type.is_float else value.number


def slope_by_differences(graph, number, numbers, directions, size):
    ends = []
    for sign in (1, -1):
        there = {value: Bounded(point.value + sign * size * directions[value]) if value in directions else point
                 for value, point in numbers.items()}
        ends.append(float(graph.evaluate(there)[number].value))
    return (ends[0] - ends[1]) / (2 * size)


def difference(graph, rng):
    """How far the gradients are from differences, relative to the terms that they are summed of."""
    number, sources, _ = graph.gradient
    sources = [source for source in sources if source in set(graph.inputs)]
    numbers = {value: moved(value, rng) for value in graph.inputs}
    known = graph.evaluate(numbers)
    gradients = graph.gradients(number, sources, numbers=known)
    # What no gradient passes does not move.
    numbers |= {node.results[0]: known[node.results[0]] for node in graph.nodes if node.head == "mp.stop_gradient"}
    directions = {source: rng.standard_normal(source.type.shape) for source in sources}
    terms = [gradient.value * directions[source] for source, gradient in zip(sources, gradients)]
    expected, size = sum(float(term.sum()) for term in terms), sum(float(np.abs(term).sum()) for term in terms)
    return min(abs(slope_by_differences(graph, number, numbers, directions, h) - expected) for h in SIZES) / max(size, 1e-3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=300)
    arguments = parser.parse_args()
    wrong, ops = 0, set()
    for seed in range(0, 37 * arguments.graphs, 37):
        graph = generate.graph_of("gradient", seed)
        ops |= {node.head for node in graph.nodes}
        rounding, bounded.to_type = bounded.to_type, lambda values, element: values
        try:
            with np.errstate(all="ignore"):
                off = difference(graph, np.random.default_rng(seed))
        finally:
            bounded.to_type = rounding
        if not off < 1e-4:
            wrong += 1
            print(f"seed {seed}: gradients are {off:.3g} off: {sorted({node.head for node in graph.nodes})}")
    print(f"{len(ops)} ops; {arguments.graphs - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
