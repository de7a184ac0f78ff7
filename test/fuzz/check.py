"""Runs graphs and compares what comes with what should."""

import dataclasses
import json
import subprocess
import threading

import numpy as np

from batches import Batch
from bounded import LARGEST, UNIT, Bounded, to_type
from module import STORAGE, packed, parsed, text_of, unpacked
from optimizers import variable_name

#: Bounds are of the first order; twice as much is not.
MARGIN = 2.0
STEPS = 3
SMALL = 2.0 ** -140
PRECISIONS = {"f16": "fp16", "bf16": "bf16", None: ""}


class Driver:
    """A process that compiles and runs modules; a new one replaces one that failed. `patience`: seconds that a graph may take."""

    def __init__(self, command, environment, patience=None):
        self.command, self.environment, self.patience, self.process = command, environment, patience, None

    def ask(self, request, data):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        line, late = b"", threading.Event()
        timer = threading.Timer(self.patience, lambda: (late.set(), self.process.kill())) if self.patience else None
        try:
            if timer:
                timer.start()
            self.process.stdin.write(json.dumps(request).encode() + b"\n" + data)
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            pass
        if timer:
            timer.cancel()
        answer = json.loads(line) if line else {}
        if line and "error" not in answer:
            return answer
        # After an error a CUDA device may take nothing more from its process.
        code = self.close()
        return answer or {"error": f"no answer within {self.patience} s" if late.is_set() else
                          f"the compiler or what it made has crashed: exit code {code}"}

    def read(self, text):
        element, shape = parsed(text)
        width = np.dtype(STORAGE.get(element, np.uint8)).itemsize
        return unpacked(self.process.stdout.read(width * int(np.prod(shape, dtype=np.int64))), element, shape)

    def close(self):
        """Ends the process, if there is one; its exit code."""
        if self.process is None:
            return 0
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        code, self.process = self.process.wait(), None
        return code


@dataclasses.dataclass
class Finding:
    what: str
    text: str


@dataclasses.dataclass
class Report:
    finding: Finding = None
    decided: int = 0  # elements that had to be within bounds
    undecided: int = 0
    exact: int = 0  # of those, the ones that had to be equal


def compare(name, got, wanted, report):
    """Whether numbers are within their bounds; prints those that are not."""
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
    request = {"module": text, "goal": "train" if graph.recipe else "run", "batch": graph.batch or Batch(graph).size,
               "precision": PRECISIONS[graph.low], "policy": graph.policy, "accumulate": graph.recipe.accumulate if graph.recipe else 1,
               "chunks": "2" if graph.recipe and "mp.cross_entropy " in text else "",
               "recompute": bool(graph.recipe) and len(graph.nodes) % 2 == 0,
               "variables": [[variable_name(value), len(blob)] for value, blob in zip(variables, blobs)],
               "read": [variable_name(value) for value in graph.recipe.parameters()] if graph.recipe else [], **options}
    given = {graph.text.tokens: graph.text.given} if graph.text else {}
    if graph.text:
        # Loops beside what a text is written from take one token at a time.
        at_once = 1 if graph.scans and len(arguments) > 1 else graph.text.at_once
        request |= {"goal": "decode", "text": variable_name(graph.text.tokens), "tokens": at_once,
                    "arguments": [variable_name(value) for value in arguments]}
    lists = [[packed(given.get(value, np.asarray)(numbers[value].value), value.type.element) for value in arguments] for numbers in runs]
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
        if graph.recipe:
            known = {result["name"]: numbers for result, numbers in run}
            pairs = [(f"step {i + 1}, {name}", known[name], number) for name, number in expected]
        else:
            pairs = [(name, numbers, number) for (_, numbers), (name, number) in zip(run, expected)]
        for name, numbers, number in pairs:
            compare(name, numbers, number, report)
            if report.finding:
                return report
    for (name, number), numbers in zip(variables, stored):
        compare(name, numbers, number, report)
        if report.finding:
            return report
    return report


def wanted_of_run(graph):
    inputs = {value: value.number for value in graph.inputs}
    numbers = graph.evaluate(inputs) if graph.low else {value: value.number for value in graph.all_values()}
    wanted = [(f"result {value.name}", numbers[value]) for value in graph.results]
    if graph.gradient:
        number, sources, _ = graph.gradient
        # Of a smaller graph, the loss may no longer depend on a source.
        wanted += [(f"gradient of {source.name}", gradient if gradient is not None else Bounded(np.zeros(source.type.shape)))
                   for source, gradient in zip(sources, graph.gradients(number, sources, numbers=numbers))]
    return [inputs], [wanted], []


def is_finite(kind, number):
    """Whether an element type holds a value, with a margin for results computed from it."""
    return not kind.is_float or bool(np.all(np.abs(number.value) < LARGEST[kind.element] / 64))


def nothing_known():
    return Bounded(0.0, np.inf)


class Run:
    """Some steps, on other data each, and the parameters after them. Ends before a step may overflow or diverge."""

    def __init__(self, graph):
        self.graph, self.recipe = graph, graph.recipe
        self.rng = np.random.default_rng(len(graph.nodes))
        self.current = {value: value.number for value in graph.inputs}
        self.scale, self.applied, self.states = self.recipe.scale or 1.0, 0, {}
        self.runs, self.wanted = [], []
        for step in range(STEPS):
            if not self.step(spoiled=graph.spoiler is not None and step == 1):
                break

    def step(self, spoiled):
        """Whether there is such a step."""
        graph, rows = self.graph, []
        for _ in range(self.recipe.accumulate):
            if self.runs or rows:
                self.draw()
            rows.append(dict(self.current))
        numbers = [graph.evaluate(row) for row in rows]
        if self.runs and not all(is_finite(value.type, number) for known in numbers for value, number in known.items()):
            return False
        losses = [known[graph.results[0]] for known in numbers]
        gradients = self.gradients(numbers)
        # A gradient may not be finite, and the step may be skipped.
        if self.may_skip() and not all(np.isfinite(gradient.error).all() for gradient in gradients.values()):
            return False
        scale = self.scale
        if spoiled:
            last = self.gradients(numbers[-1:])
            if not all(self.surely_spoilt(last, own) for own in self.recipe.optimizers()):
                return False
            rows[-1][graph.spoiler] = Bounded(np.inf)
            losses[-1] = nothing_known()
            self.change_scale(0.5)
        elif not self.update(gradients):
            return False
        self.runs += rows
        results = [("loss", self.of_window(losses))]
        if self.recipe.scale:
            results += [("scale", Bounded(scale)), ("skipped", Bounded(float(spoiled)))]
        self.wanted.append(results)
        return True

    def may_skip(self):
        """Whether steps are skipped: with a loss scale, or where a new parameter does not fit its copy in 16 bits."""
        parameters = set(self.recipe.parameters())
        return self.recipe.scale or self.graph.low or any(
            node.head == "mp.cast" and node.operands[0] in parameters and node.results[0].type.element in ("f16", "bf16")
            for node in self.graph.nodes)

    def draw(self):
        for value in self.graph.inputs:
            if value.data == "argument" and value.type.is_float and value.type.element != "f64" and value.fresh:
                self.current[value] = Bounded(to_type(self.rng.standard_normal(value.type.shape), value.type.element))
            elif value.data == "argument" and value.rows:
                self.current[value] = Bounded(self.rng.integers(0, value.rows, value.type.shape).astype(np.float64))

    def gradients(self, numbers):
        """The mean of those of the micro-batches, of parameters that have any."""
        parameters, share = self.recipe.parameters(), 1.0 / len(numbers)
        total = {}
        for known in numbers:
            own = self.graph.gradients(self.graph.results[0], parameters, self.scale, known)
            for value, gradient in zip(parameters, own):
                if gradient is not None:
                    gradient = gradient * (share / self.scale)
                    total[value] = total[value] + gradient if value in total else gradient
        if len(numbers) > 1:
            total = {value: Bounded(gradient.value, gradient.error + 8 * UNIT["f32"] * np.abs(gradient.value) + SMALL)
                     for value, gradient in total.items()}
        return total

    def of_window(self, losses):
        """The result of the step: the mean over its micro-batches."""
        if len(losses) == 1:
            return losses[0]
        mean = sum(losses[1:], losses[0]) * (1.0 / len(losses))
        return Bounded(mean.value, mean.error + 8 * UNIT["f32"] * np.abs(mean.value) + SMALL)

    def surely_spoilt(self, gradients, parameters):
        """Whether an infinite loss reaches one of them: an element's gradient is not zero, or there is nothing to update."""
        own = [gradients[value] for value in parameters if value in gradients]
        return not own or any((np.abs(gradient.value) > 2 * gradient.error + SMALL).any() for gradient in own)

    def update(self, gradients):
        # Optimizers and norms square them in f32.
        if any((np.abs(gradient.value) > 2.0 ** 60).any() for gradient in gradients.values()):
            return False
        updated = self.recipe.step(self.current, gradients, self.states, self.applied + 1)
        if not all(is_finite(value.type.of("f16"), number) for value, number in updated.items()):
            return False
        self.current.update(updated)
        self.applied += 1
        self.change_scale(2.0)
        return True

    def change_scale(self, factor):
        if self.recipe.grows:
            self.scale *= factor


def wanted_of_steps(graph):
    run = Run(graph)
    steps = len(run.wanted)
    return run.runs, run.wanted, [(f"parameter {value.name} after {steps} steps", run.current[value])
                                  for value in graph.recipe.parameters()]
