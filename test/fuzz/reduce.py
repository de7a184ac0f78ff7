"""Makes a graph that differs smaller, as long as it goes on differing.

An op is taken out by making its result an input with the number that it had; what nothing needs any more goes too.
"""

import copy
import re

from graph import Value


def pruned(graph):
    """Without the ops and inputs that no result needs."""
    needed = set(graph.results)
    if graph.gradient:
        needed |= {graph.gradient[0], *graph.gradient[1]}
    if graph.recipe:
        needed |= set(graph.recipe.parameters())
    nodes = []
    for node in reversed(graph.nodes):
        if needed & set(node.results):
            needed |= set(node.operands)
            nodes.append(node)
    # A loop stays whole while anything of it is needed.
    kept = set(nodes)
    for scan in graph.whole_scans():
        if kept & scan.nodes:
            kept |= scan.nodes
            needed |= {value for node in scan.nodes for value in node.operands} | set(scan.carried)
    graph.nodes = [node for node in graph.nodes if node in kept]
    graph.inputs = [value for value in graph.inputs if value in needed]
    return graph


def copied(graph):
    """A copy to take apart; numbers and functions are shared."""
    small = copy.copy(graph)
    small.nodes, small.inputs, small.results = list(graph.nodes), list(graph.inputs), list(graph.results)
    return small


def without_result(graph, index):
    small = copied(graph)
    del small.results[index]
    return pruned(small)


def without_source(graph, index):
    small = copied(graph)
    number, sources, types = graph.gradient
    small.gradient = (number, sources[:index] + sources[index + 1:], types[:index] + types[index + 1:])
    return pruned(small)


def without_node(graph, index):
    """The node's results become inputs of their names."""
    small = copied(graph)
    node = small.nodes.pop(index)
    swap = {value: Value(value.name, value.type, type(value.number)(value.number.value), data="argument")
            for value in node.results}
    for value in swap.values():
        value.fresh = False
    small.inputs += swap.values()
    renamed = lambda values: [swap.get(value, value) for value in values]
    remade = {}
    for i, other in enumerate(small.nodes):
        if any(value in swap for value in other.operands):
            small.nodes[i] = remade[other] = copy.copy(other)
            small.nodes[i].operands = renamed(other.operands)
    small.results = renamed(small.results)
    if small.gradient:
        number, sources, types = small.gradient
        if number in swap:
            return None
        small.gradient = (number, renamed(sources), types)
    return pruned(small)


def candidates(graph):
    first = 1 if graph.recipe or graph.gradient else 0
    if len(graph.results) > max(first, 0 if graph.gradient else 1):
        for i in reversed(range(first if graph.recipe else 0, len(graph.results))):
            yield lambda i=i: without_result(graph, i)
    if graph.gradient and len(graph.gradient[1]) > 1:
        for i in reversed(range(len(graph.gradient[1]))):
            yield lambda i=i: without_source(graph, i)
    if not graph.recipe:
        for i in range(len(graph.nodes)):
            yield lambda i=i: without_node(graph, i)


def kind_of(finding):
    """The fault that must remain: that numbers differ, or the compiler's message."""
    if finding.what != "error":
        return "numbers"
    return re.sub(r"[0-9]+|'[^']*'", "", finding.text.partition("error:")[2].partition("\n")[0])


def reduced(graph, finding, check):
    """The smallest graph found, and how it differs."""
    went_on = True
    while went_on:
        went_on = False
        for candidate in candidates(graph):
            small = candidate()
            if small is None:
                continue
            # An input has no error of its own, so bounds of the values computed from it are tighter.
            known = small.evaluate({value: value.number for value in small.inputs})
            for value in small.all_values():
                value.number = known[value]
            report = check(small)
            if report.finding and kind_of(report.finding) == kind_of(finding):
                graph, finding, went_on = small, report.finding, True
                break
    return graph, finding
