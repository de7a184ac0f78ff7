"""A graph as the text that the compiler reads, and as what a run of it gets."""

import numpy as np

import scans
import texts
from batches import Batch
from optimizers import variable_name

#: How elements lie in memory; bf16 is the upper half of f32.
STORAGE = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i64": np.int64, "i32": np.int32,
           "ui32": np.uint32, "i16": np.int16, "ui16": np.uint16, "ui8": np.uint8, "i8": np.int8, "i1": np.uint8}


def packed(values, element):
    if element == "bf16":
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return np.ascontiguousarray(values).astype(STORAGE[element]).tobytes()


def unpacked(data, element, shape):
    stored = np.frombuffer(data, STORAGE[element])
    if element == "bf16":
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float64).reshape(shape)


def parsed(text):
    """"4x3xf32" as element and shape."""
    *shape, element = text.split("x")
    return element, tuple(int(size) for size in shape)


def declared(g, value, batch):
    name = ' {mp.name = "' + variable_name(value) + '"}' if g.recipe or g.text else ""
    return f"{value.name}: {batch.type(value)}{name}"


def text_of(graph):
    """The module; a graph with a recipe is named @loss and returns the loss first."""
    arguments = [value for value in graph.inputs if value.data == "argument"]
    parameters = set(graph.recipe.parameters()) if graph.recipe else ()
    batch = Batch(graph)
    body, lines = [], [f"// autocast to {graph.low} by {graph.policy}"] if graph.low else []
    lines.append("module @graph {")
    for value in graph.inputs:
        if value.data == "variable":
            kind = "" if value in parameters else "buffer "
            lines.append(f"  mp.variable {kind}@{variable_name(value)} : {value.type} = #mp.init<zeros>")
            body.append(f"    {value.name} = mp.read @{variable_name(value)} : {value.type}")
    body += [f"    {text}".rstrip(": ") for text in scans.texts_of(graph.nodes, batch, graph.whole_scans())]
    results = [(value.name, batch.type(value)) for value in graph.results]
    if graph.gradient:
        number, sources, types = graph.gradient
        types = [batch.type(source, kind) for source, kind in zip(sources, types)]
        names = [f"%g{i}" for i in range(len(sources))]
        body.append(f"    {', '.join(names)} = mp.gradient {number.name} of {', '.join(s.name for s in sources)} : "
                    + ", ".join(map(str, [number.type, *types])))
        results += list(zip(names, types))
    if graph.text:
        training, variable, loss = texts.recipe()
        lines.append(variable)
        body += loss
        results.insert(0, ("%loss", "tensor<f32>"))
    trains = graph.recipe or graph.text
    returned = ", ".join(f'{kind} {{mp.name = "loss"}}' if trains and i == 0 else str(kind)
                         for i, (_, kind) in enumerate(results))
    lines.append(f"  func.func @{'loss' if trains else 'f'}({', '.join(declared(graph, v, batch) for v in arguments)}) -> ({returned}) {{")
    lines += body
    lines.append(f"    return {', '.join(name for name, _ in results)} : {', '.join(str(kind) for _, kind in results)}")
    lines.append("  }")
    return "\n".join(lines) + "\n" + (graph.recipe.text() if graph.recipe else training if graph.text else "") + "}\n"
