"""Which dimensions of a graph are written as `?`.

The arguments of a graph are opened that have a number of rows in common, and with them what is repeated so often, and what
is computed from them. The `?` of a value stands for its rows, whatever multiple of the batch they are. An op whose text or
rows do not allow a `?` keeps closed what it is computed from.
"""

import re

from elementwise import BINARY, UNARY
from losses import PAIRS
from reductions import REDUCTIONS


class Refused(Exception):
    """An op cannot have these operands open."""


def numbers_of(node, name):
    """The numbers in brackets that follow a word among the attributes; None if it is not there."""
    found = re.search(re.escape(name) + r"[\[(]([-0-9, ]*)[\])]", node.attributes)
    return [int(number) for number in found[1].split(",") if number.strip()] if found else None


def refuse_if(condition):
    if condition:
        raise Refused


def elementwise(node, open_):
    """Operands are broadcast; a row that is repeated may be closed."""
    result = node.results[0].type.shape
    for value, is_open in zip(node.operands, open_):
        shape = value.type.shape
        has_rows = len(shape) == len(result) and shape[0] != 1
        refuse_if(is_open and len(shape) != len(result) or has_rows and not is_open)
    return True


def rows(node, open_):
    """The first operand has rows; the others are weights."""
    refuse_if(not open_[0] or any(open_[1:]))
    return [len(value.type.shape) == len(node.results[0].type.shape) for value in node.results]


def features(node, open_):
    """As `rows`, but the last dimension is summed over, so it is not the batch."""
    refuse_if(len(node.operands[0].type.shape) < 2)
    return rows(node, open_)


def all_rows(node, open_):
    """All operands have rows, and so has a result that is not one number."""
    refuse_if(not all(open_))
    return bool(node.results[0].type.shape)


def along(node, open_):
    """The dimension of classes, or that is joined, is not the batch."""
    refuse_if(numbers_of(node, "dim") == [0])
    return all_rows(node, open_)


def sorted_(node, open_):
    refuse_if(numbers_of(node, "dim") == [0])
    return True


def reduction(node, open_):
    return 0 not in (numbers_of(node, "dims") or numbers_of(node, "dim"))


def transpose(node, open_):
    refuse_if(numbers_of(node, " ")[0] != 0)
    return True


def reshape(node, open_):
    before, after = (value.type for value in (node.operands[0], node.results[0]))
    refuse_if(not after.shape)
    sizes = [kind.size // kind.shape[0] for kind in (before, after)]
    refuse_if(max(sizes) % min(sizes))
    return True


def broadcast(node, open_):
    before, after = (value.type.shape for value in (node.operands[0], node.results[0]))
    refuse_if(len(before) != len(after) or before[0] != after[0])
    return True


def slice_(node, open_):
    strides = numbers_of(node, "strides") or [1]
    whole = (0, node.operands[0].type.shape[0], 1)
    refuse_if((numbers_of(node, "offsets")[0], numbers_of(node, "sizes")[0], strides[0]) != whole)
    return True


def pad(node, open_):
    refuse_if(numbers_of(node, "low")[0] or numbers_of(node, "high")[0] or (numbers_of(node, "interior") or [0])[0])
    return True


def matmul(node, open_):
    ranks = [len(value.type.shape) for value in node.operands]
    if ranks[0] == ranks[1] == 2:
        refuse_if("transpose_a" in node.attributes or open_[1])
    else:
        refuse_if(any(is_open != (rank > 2) for rank, is_open in zip(ranks, open_)))
    return True


def gather(node, open_):
    if "batched" in node.attributes:
        return all_rows(node, open_)
    if numbers_of(node, "dim") == [0]:
        return open_[1]  # the rows of the table are others
    refuse_if(open_[1])
    return True


def scatter_add(node, open_):
    if "batched" in node.attributes:
        return all_rows(node, open_)
    if numbers_of(node, "dim") == [0]:
        refuse_if(not all(open_))
        return False
    refuse_if(open_[1])
    return True


def rotary(node, open_):
    angles_have_rows = len(node.operands[1].type.shape) > 2 or numbers_of(node, "dim") == [0]
    refuse_if(open_ != [True, angles_have_rows, angles_have_rows])
    return True


def head_of(name):
    return name.split()[0]


#: By head: whether the results are open, from whether the operands are, of which one is.
RULES = {
    **{head_of(name): elementwise for name in [*UNARY, *BINARY]},
    **dict.fromkeys(["mp.compare", "mp.not", "mp.and", "mp.or", "mp.select", "mp.cast"], elementwise),
    **{head_of(name): all_rows for name in PAIRS},
    **dict.fromkeys(["mp.cross_entropy", "mp.nll_loss", "mp.accuracy"], along),
    **dict.fromkeys(["mp.binary_cross_entropy", "mp.kl_div", "mp.in_training"], all_rows),
    **{head_of(name): reduction for name in [*REDUCTIONS, "mp.argmax"]},
    **dict.fromkeys(["mp.softmax", "mp.log_softmax", "mp.cumsum", "mp.layer_norm", "mp.conv2d", "mp.one_hot",
                     "mp.max_pool2d", "mp.avg_pool2d"], rows),
    "mp.linear": features,
    "mp.transpose": transpose, "mp.reshape": reshape, "mp.broadcast": broadcast, "mp.slice": slice_, "mp.pad": pad,
    "mp.concat": along, "mp.matmul": matmul, "mp.gather": gather, "mp.scatter_add": scatter_add,
    "mp.rotary_embedding": rotary, "mp.sort": sorted_, "mp.top_k": sorted_,
}


class Batch:
    """The values of a graph that are open; none if it has no batch."""

    def __init__(self, graph):
        self.open, self.size = set(), 0
        ranked = [value for value in graph.inputs if value.data == "argument" and value.type.shape and value.type.size]
        if not graph.opens or not ranked:
            return
        sizes = [graph.batch] if graph.batch else dict.fromkeys(value.type.shape[0] for value in ranked)
        found = {size: self._opened(graph, ranked, size) for size in sizes}
        self.size = max(found, key=lambda size: len(found[size]))
        self.open = found[self.size]
        if not self.open:
            self.size = 0

    def _opened(self, graph, ranked, size):
        """The values that are open in a batch of this size."""
        begun = {value for value in ranked if value.type.shape[0] == size}
        begun |= {node.results[0] for node in graph.nodes
                  if node.head == "mp.broadcast" and self._is_repeated(*node.operands, *node.results, size)}
        open_ = None
        while begun and open_ is None:
            open_ = self._followed(graph, begun)
        return open_ or set()

    def _is_repeated(self, before, after, size):
        before, after = before.type.shape, after.type.shape
        return after and after[0] == size and (len(before) < len(after) or before[0] == 1 != after[0])

    def _followed(self, graph, begun):
        """The values that are open, and what is computed from them; None if it took some of the former away instead."""
        opened, sources = set(begun), {value: {value} for value in begun}
        for node in graph.nodes:
            used = set().union(*(sources.get(value, set()) for value in [*node.operands, *node.results]))
            for value in node.results:
                sources[value] = used
            open_ = [value in opened for value in node.operands]
            if not any(open_):
                continue
            try:
                rule = RULES.get(head_of(node.head))
                refuse_if(rule is None)
                found = rule(node, open_)
            except Refused:
                begun -= used
                return None
            found = found if isinstance(found, list) else [found] * len(node.results)
            opened |= {value for value, is_open in zip(node.results, found) if is_open}
        return opened

    def type(self, value, kind=None):
        """The type as text, or `kind` with the rows of the value."""
        text = str(kind or value.type)
        return re.sub(r"<\d+x", "<?x", text) if value in self.open else text

    def text(self, node):
        """The text of a node; its types are those of its first operands in their order, or "operand to result"."""
        if not any(value in self.open for value in [*node.operands, *node.results]):
            return node.text()
        count = node.tail.count("tensor<")
        shown = [node.operands[0], node.results[0]] if " to " in node.tail else node.operands[:count]
        if node.tail != (" to " if " to " in node.tail else ", ").join(str(value.type) for value in shown):
            raise AssertionError(f"{node.head} has types that do not say whose they are: {node.tail}")
        opened = re.sub(r"tensor<[^>]*>", lambda _, left=iter(shown): self.type(next(left)), node.tail)
        text = node.text()
        text = text[:len(text) - len(node.tail)] + opened
        return re.sub(r"sizes\[\d+", "sizes[-1", text) if node.head == "mp.slice" else text
