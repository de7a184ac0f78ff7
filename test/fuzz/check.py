"""Runs graphs and compares what comes with what should."""

import dataclasses
import json
import subprocess

import numpy as np

from bounded import LARGEST, Bounded, to_type
from module import packed, parsed, text_of, unpacked
from optimizers import variable_name

#: Bounds are of the first order; twice as much is not.
MARGIN = 2.0
STEPS = 3


class Driver:
    """A process that compiles and runs modules; a new one where one has died."""

    def __init__(self, command, environment):
        self.command, self.environment, self.process = command, environment, None

    def ask(self, request, data):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n" + data)
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            if line:
                return json.loads(line)
        except BrokenPipeError:
            pass
        code, self.process = self.process.wait(), None
        return {"error": f"the compiler or what it made has crashed: exit code {code}"}

    def read(self, text):
        element, shape = parsed(text)
        width = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2}.get(element, 1)
        return unpacked(self.process.stdout.read(width * int(np.prod(shape, dtype=np.int64))), element, shape)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


@dataclasses.dataclass
class Finding:
    what: str
    text: str


@dataclasses.dataclass
class Report:
    finding: Finding = None
    decided: int = 0  # elements that had to be in some bounds
    undecided: int = 0
    exact: int = 0  # of the decided, those that had to be the very same


def compare(name, got, wanted, report):
    """Whether numbers are where they should be; says where they are not."""
    if got.shape != wanted.shape:
        report.finding = Finding(name, f"has shape {got.shape}, not {wanted.shape}")
        return
    error = MARGIN * wanted.error
    open_ = ~np.isfinite(error)
    with np.errstate(invalid="ignore"):
        good = (got == wanted.value) | (np.isnan(got) & np.isnan(wanted.value)) | (np.abs(got - wanted.value) <= error) | open_
    report.undecided += int(open_.sum())
    report.decided += int((~open_).sum())
    report.exact += int((error == 0).sum())
    if not good.all():
        at = tuple(int(i) for i in np.argwhere(~good)[0])
        report.finding = Finding(name, f"element {list(at)} is {got[at]!r}, should be {wanted.value[at]!r} within {error[at]:.3g}"
                                 f" ({int((~good).sum())} of {good.size} differ)")


def request_of(graph, text, runs, options):
    """`runs`: numbers of the arguments, a list for each."""
    arguments = [value for value in graph.inputs if value.data == "argument"]
    variables = [value for value in graph.inputs if value.data == "variable"]
    blobs = [packed(value.number.value, value.type.element) for value in variables]
    request = {"module": text, "goal": "train" if graph.recipe else "run", "batch": graph.batch,
               "variables": [[variable_name(value), len(blob)] for value, blob in zip(variables, blobs)],
               "read": [variable_name(value) for value in graph.recipe.parameters()] if graph.recipe else [], **options}
    lists = [[packed(numbers[value].value, value.type.element) for value in arguments] for numbers in runs]
    request["inputs"] = [[len(blob) for blob in own] for own in lists]
    return request, b"".join(blobs + [blob for own in lists for blob in own])


def check(graph, driver, options):
    """Runs a graph, and compares all that it returns."""
    report = Report()
    with np.errstate(all="ignore"):
        runs, wanted, variables = (wanted_of_steps if graph.recipe else wanted_of_run)(graph)
    text = text_of(graph)
    request, data = request_of(graph, text, runs, options)
    answer = driver.ask(request, data)
    if "error" in answer:
        report.finding = Finding("error", answer["error"])
        return report
    got = [[(result, driver.read(result["type"])) for result in run] for run in answer["runs"]]
    stored = [driver.read(kind) for kind in answer["variables"]]
    for i, (run, expected) in enumerate(zip(got, wanted)):
        for (result, numbers), (name, number) in zip(run, expected):
            compare(f"step {i + 1}, {name}" if graph.recipe else name, numbers, number, report)
            if report.finding:
                return report
    for (name, number), numbers in zip(variables, stored):
        compare(name, numbers, number, report)
        if report.finding:
            return report
    return report


def wanted_of_run(graph):
    numbers = {value: value.number for value in graph.all_values()}
    wanted = [(f"result {value.name}", value.number) for value in graph.results]
    if graph.gradient:
        number, sources, _ = graph.gradient
        wanted += [(f"gradient of {source.name}", gradient)
                   for source, gradient in zip(sources, graph.gradients(number, sources, numbers=numbers))]
    return [numbers], [wanted], []


def is_finite(kind, number):
    """Whether an element type holds a value, with a margin for what is computed of it."""
    return not kind.is_float or bool(np.all(np.abs(number.value) < LARGEST[kind.element] / 64))


def wanted_of_steps(graph):
    """Some steps, on other data each; what the parameters are then. A run that diverges ends before the step that may overflow."""
    rng = np.random.default_rng(len(graph.nodes))
    current = {value: value.number for value in graph.inputs}
    parameters, states, runs, wanted = graph.recipe.parameters(), {}, [], []
    for t in range(1, STEPS + 1):
        for value in graph.inputs:
            if t > 1 and value.data == "argument" and value.type.is_float and value.type.element != "f64" and value.fresh:
                current[value] = Bounded(to_type(rng.standard_normal(value.type.shape), value.type.element))
        numbers = graph.evaluate(current)
        if t > 1 and not all(is_finite(value.type, number) for value, number in numbers.items()):
            break
        scale = graph.recipe.scale or 1.0
        gradients = {value: gradient * (1 / scale) for value, gradient in zip(
            parameters, graph.gradients(graph.results[0], parameters, scale, numbers)) if gradient is not None}
        if graph.recipe.scale and not all(np.isfinite(gradient.error).all() for gradient in gradients.values()):
            break  # a scaled gradient may have overflowed, and the step be skipped
        updated = graph.recipe.step(current, gradients, states, t)
        if not all(is_finite(value.type.of("f16"), number) for value, number in updated.items()):
            break
        runs.append(dict(current))
        wanted.append([("loss", numbers[graph.results[0]])])
        current.update(updated)
    return runs, wanted, [(f"parameter {value.name} after {len(runs)} steps", current[value]) for value in parameters]
