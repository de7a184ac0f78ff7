"""Modules: their text or a file, compiled."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, TypedDict, Union

from mantissa import _core
from mantissa._generator import Generator
from mantissa._options import set_options
from mantissa._step import Step, path_bytes

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]
#: The text of a module, or the path of its file.
Source = Path


class Options(TypedDict, total=False):
    """The options of `compile`, which describes them. Other functions take them too."""

    batch: int
    precision: str
    policy: str
    scaler: str
    accumulate: int
    clip_norm: float
    clip_value: float
    recompute: str
    loss_chunks: str
    recipe: str
    total_steps: int
    outputs: Sequence[str]
    predictions: Sequence[str]
    insert_passes: Sequence[str]
    device: str
    threads: int
    seed: int


class Explanation(List[Dict[str, Any]]):
    """Autocast's decisions: for each function a dict, as ``docs/policies.md`` describes it.

    ``str(explanation)`` is a table with a line for each op: where it is, the type in which it runs, the number of its
    operands that are cast, and the reason.

    Attributes
    ----------
    json : str
        The text that was parsed.
    """

    def __init__(self, text: str) -> None:
        super().__init__(json.loads(text))
        self.json = text

    def __str__(self) -> str:
        rows = [("source", "op", "runs in", "casts", "why")]
        for op in (op for function in self for op in function["ops"]):
            rows.append((op["source"], op["op"], op["runs_in"] or "-", str(len(op["casts"])), op["why"]))
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows)


def compile(module: Source, *, batch: int = 0, precision: str = "", policy: str = "", scaler: str = "", accumulate: int = 0,
            clip_norm: float = 0, clip_value: float = 0, recompute: str = "", loss_chunks: str = "", recipe: str = "",
            total_steps: int = 0, outputs: Sequence[str] = (), predictions: Sequence[str] = (), insert_passes: Sequence[str] = (),
            device: str = "cpu", threads: int = 0, seed: int = 0) -> Step:
    """Compiles the training step of a module, and gives every variable its first value.

    An option with its default leaves the choice to the module's recipe.

    Parameters
    ----------
    module : str or path
        A string with a line feed or a brace is the text of a module, any other one the path of a file. An
        `os.PathLike` is a path.
    batch : int
        The rows of a micro-batch, for the leading ``?`` of shapes.
    precision : str
        ``"fp32"``, ``"tf32"``, ``"fp16"``, ``"bf16"``, ``"fp8"``, or the name that another system has:
        ``"16-mixed"``, ``"mixed_float16"``, ``"O1"``, ...
    policy : str
        A preset of autocast's policy, such as ``"torch"``, a JSON file, or ``"@name"`` of the module.
    scaler : str
        A loss scaler, such as ``"torch"``, ``"none"``, or ``"static:128"`` for a scale that stays.
    accumulate : int
        The micro-batches of a step, which then takes ``accumulate * batch`` rows.
    clip_norm, clip_value : float
        The largest norm of all gradients, and the largest element of one.
    recompute : str
        What backward computes again: ``"marked"``, ``"all"`` or a size such as ``"64MiB"``.
    loss_chunks : str
        The parts in which a classifier and its cross-entropy take the rows of a batch, so that the logits of one part
        exist at a time: a number, or ``"auto"``.
    recipe : str
        The ``mp.train``, where there are several.
    total_steps : int
        The length of schedules that end with the run.
    outputs : sequence of str
        What a step returns beside the function's results: ``"grad:fc1.weight"``, the gradient that the optimizer takes,
        and ``"value:%h1"``, a value of the function by its name in the text.
    predictions : sequence of str
        What `Step.predict` returns: names of results, or ``"value:%logits"``. If empty, the results that are not single
        numbers.
    insert_passes : sequence of str
        Places for further passes: ``"after=mp-autodiff:canonicalize"``. Plugins need a build of the library, and cannot
        be loaded from Python.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or ``"auto"`` for a CUDA device if one is usable, else the CPU.
    threads : int
        The threads of the CPU; 0 stands for one a core. The results do not depend on it.
    seed : int
        The seed of first values, dropout and stochastic rounding.

    Returns
    -------
    Step

    Raises
    ------
    Error
        The module or an option is wrong. The message has the place in the module, if there is one.

    Warns
    -----
    Note
        For each warning of the compiler.
    """
    options = _options("compile", Options(
        batch=batch, precision=precision, policy=policy, scaler=scaler, accumulate=accumulate, clip_norm=clip_norm,
        clip_value=clip_value, recompute=recompute, loss_chunks=loss_chunks, recipe=recipe, total_steps=total_steps,
        outputs=outputs, predictions=predictions, insert_passes=insert_passes, device=device, threads=threads, seed=seed))
    return Step(_module(module).compile_step(options))


def compile_generator(module: Source, weights: Path, *, averaged: bool = False, **options: Unpack[Options]) -> Generator:
    """Compiles the network of a module's recipe as a writer of texts.

    Parameters
    ----------
    module : str or path
        As `compile` has it.
    weights : str or path
        A checkpoint, the folder of a run, or a file of safetensors, such as that of a network of Hugging Face.
    averaged : bool
        Whether to take the moving averages of the weights that the recipe's ``ema`` keeps.
    options
        Those of `compile`. ``batch`` is the number of texts that are written at once, one if it is not given.
        ``predictions`` names the logits, [batch, tokens, vocabulary], if there are several results that are not single
        numbers. ``precision`` and ``policy`` are those of the checkpoint unless they are given. What only training has,
        such as ``scaler`` and ``seed``, is not used.

    Returns
    -------
    Generator

    Raises
    ------
    Error
        The network is no causal language model, with the op that looks at later tokens; it takes more than a text; or
        weights are missing.
    """
    given = _options("compile_generator", options)
    return Generator(_module(module).compile_generator(path_bytes(weights), averaged, given))


def explain(module: Source, **options: Unpack[Options]) -> Explanation:
    """Returns autocast's decision for each op, and its reason. Takes a module and the options of `compile`."""
    return Explanation(_module(module).explain(_options("explain", options)))


def save_step(module: Source, path: Path, **options: Unpack[Options]) -> None:
    """Writes the compiled step of a module, for `load_programs` on a machine of this kind.

    Takes a module, the path of the file, and the options of `compile`. An error leaves an earlier file as it was.
    """
    _module(module).save(path_bytes(path), _options("save_step", options), is_prediction=False)


def save_prediction(module: Source, path: Path, **options: Unpack[Options]) -> None:
    """Writes the compiled prediction of a module for ``batch`` rows, for `load_programs`; as `save_step`."""
    _module(module).save(path_bytes(path), _options("save_prediction", options), is_prediction=True)


def load_programs(paths: Sequence[Path], *, device: str = "cpu", threads: int = 0, seed: int = 0) -> Step:
    """Returns the step of compiled files, which takes no compiler.

    Parameters
    ----------
    paths : sequence of str or path
        The file of a step, and, if `Step.predict` is used, those of predictions.
    device, threads, seed
        As `compile` has them.

    Raises
    ------
    Error
        A file is damaged, of a newer format, or needs a feature that this machine lacks.
    """
    if isinstance(paths, (str, bytes, os.PathLike)):
        raise TypeError("paths is one path, expected a list of them")
    options = _options("load_programs", Options(device=device, threads=threads, seed=seed))
    return Step(_core.load_programs([path_bytes(path) for path in paths], options))


def _module(module: Source) -> _core.Module:
    if isinstance(module, str) and ("\n" in module or "{" in module):
        return _core.Module.parse(module, "<module>")
    return _core.Module.read(path_bytes(module))


def _options(function: str, given: Options) -> _core.Options:
    options = _core.Options()
    set_options(options, Options.__annotations__, function, given)
    return options
