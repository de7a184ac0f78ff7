"""Compiled training steps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Protocol, Tuple, Union

from mantissa import _core

if TYPE_CHECKING:
    import array

    import numpy


class SupportsDlpack(Protocol):
    """An array of a package with DLPack, such as a tensor of PyTorch."""

    def __dlpack__(self) -> Any: ...


#: What a step takes: an array of NumPy or of a package with DLPack, or anything with the buffer protocol.
Array = Union["numpy.ndarray[Any, Any]", "numpy.generic", SupportsDlpack, bytes, bytearray, memoryview, "array.array[Any]"]


class TensorInfo(NamedTuple):
    """An input or a variable of a step.

    Attributes
    ----------
    name : str
        As the module has it: ``"image"``, ``"fc1.weight"``.
    dtype : str
        NumPy's name of the type of the elements: ``"uint8"``, ``"float32"``; ``"bfloat16"``, ``"float8_e4m3fn"`` and
        ``"float8_e5m2"`` are those of ml_dtypes.
    shape : tuple of int
    kind : str
        ``"input"``; or, of a variable, ``"parameter"``, ``"buffer"``, ``"slot"`` (of the optimizer), ...
    """

    name: str
    dtype: str
    shape: Tuple[int, ...]
    kind: str


class StepResult(Mapping[str, Any]):
    """The results of a step by name, and the step's own numbers.

    A mapping from the names of the function's results, and of what ``outputs`` asked for, to values. A tensor without
    dimensions is a Python number, any other one a NumPy array. Arrays are copies: they stay as they are when the step
    goes on. A result without a name has that of its place: ``"0"``.

    Attributes
    ----------
    step : int
        The number of this attempt, from 1.
    loss : float
        The result ``"loss"``; NaN if there is none of this name.
    loss_scale : float
        The factor of the loss in this step.
    skipped : bool
        Whether gradients overflowed, and so nothing was updated.
    exhausted : bool
        Whether the loss scaler gives up.
    learning_rate : float
        That of the first parameter group.
    gradient_norm : float
        The norm of all gradients before they were clipped; NaN if the step does not compute it.
    """

    __slots__ = ("_values", "step", "loss", "loss_scale", "skipped", "exhausted", "learning_rate", "gradient_norm")

    def __init__(self, values: Dict[str, Any], step: int, loss: float, loss_scale: float, skipped: bool, exhausted: bool,
                 learning_rate: float, gradient_norm: float) -> None:
        self._values = values
        self.step = step
        self.loss = loss
        self.loss_scale = loss_scale
        self.skipped = skipped
        self.exhausted = exhausted
        self.learning_rate = learning_rate
        self.gradient_norm = gradient_norm

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise KeyError(f"there is no result {name!r} (known: {', '.join(map(repr, self._values))})")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__[1:])
        return f"StepResult({numbers}, results={list(self._values)})"


class Step:
    """A compiled training step with its state. `compile` and `load_programs` make one.

    One thread may use a step at a time; a second one gets an `Error`. Different steps are independent: each may have a
    thread of its own, since Python's lock is released while a step runs or compiles. A step belongs to the process that
    made it, and not to forks of it.
    """

    def __init__(self, core: _core.Step) -> None:
        self._core = core

    def run(self, inputs: Mapping[str, Array]) -> StepResult:
        """Runs the step on a batch, and waits for it; ``step(inputs)`` is the same.

        Parameters
        ----------
        inputs : mapping of str to array
            An array for each of `inputs`, of its dtype and shape, dense and in row-major order; it may be read-only.
            Nothing is copied or converted, and no other thread may change it meanwhile.

        Returns
        -------
        StepResult

        Raises
        ------
        Error
            A name, a dtype, a shape or strides are others than expected, an element is out of its range, or another
            thread uses the step. Nothing has run then. A view that is not dense is refused, as a copy would cost time
            in every step: ``numpy.ascontiguousarray`` makes one.
        TypeError
            A value is no array.
        """
        return StepResult(*self._core.run(_dict(inputs)))

    __call__ = run

    def predict(self, inputs: Mapping[str, Array]) -> Dict[str, Any]:
        """Computes predictions in the mode of evaluation, from the inputs that they need; the state stays as it is.

        Parameters
        ----------
        inputs : mapping of str to array
            An array for each of ``predict_inputs()``, of any number of rows. The first call with a new number compiles.

        Returns
        -------
        dict of str to array or number
            What ``predictions`` of `compile` asked for; as in `StepResult`.

        Raises
        ------
        Error, TypeError
            As `run`.
        """
        return self._core.predict(_dict(inputs))

    def find_non_finite(self, inputs: Mapping[str, Array]) -> str:
        """Returns where values stop being finite: the first op, its place in the module, the ranges of its operands.

        It is ``""`` if all values are finite. Runs the step in a form that changes no state; the first call compiles.
        After a step that was skipped, it starts from what that step found: give it the same arrays, as to `run`.
        """
        return self._core.find_non_finite(_dict(inputs))

    @property
    def inputs(self) -> Dict[str, TensorInfo]:
        """What `run` takes, by name. With micro-batches, the rows are those of all of them."""
        return _infos(self._core.inputs())

    def predict_inputs(self, rows: int = 0) -> Dict[str, TensorInfo]:
        """Returns what `predict` takes for a number of rows (0: as `run`), by name."""
        return _infos(self._core.predict_inputs(rows))

    def set_learning_rate(self, rate: float) -> None:
        """Makes every learning rate this number, whatever the recipe's schedule.

        It is a variable of the step: nothing is compiled again, and checkpoints hold it. Raises `Error` unless it is a
        finite number from 0 on.
        """
        self._core.set_learning_rate(rate)

    def scale_learning_rate(self, factor: float) -> None:
        """Multiplies the learning rates from now on, on top of earlier factors."""
        self._core.scale_learning_rate(factor)

    def reset_learning_rate(self) -> None:
        """Returns to the recipe's learning rates."""
        self._core.reset_learning_rate()

    def variables(self) -> Dict[str, TensorInfo]:
        """Returns the variables of the step by name: parameters, and the state of the optimizer and the scaler."""
        return _infos(self._core.variables())

    def read(self, name: str) -> numpy.ndarray[Any, Any]:
        """Returns a copy of a variable, of its shape and dtype.

        Variables of bfloat16 and float8 have the types of ml_dtypes if this is installed. Otherwise they are read as
        float32, which is exact. An `Error` names the nearest variables if there is none of that name.
        """
        return self._core.read(name)  # type: ignore[no-any-return]

    def write(self, name: str, array: Array) -> None:
        """Copies an array to a variable, and to what is derived from it.

        The array has the shape and the dtype of the variable; errors are those of `run`.
        """
        self._core.write(name, array)

    def initialize(self, seed: int = 0) -> None:
        """Begins anew: every variable gets its first value."""
        self._core.initialize(seed)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Saves the whole state as a file of safetensors. An error leaves an earlier file as it was."""
        self._core.save(path_bytes(path))

    def load(self, path: Union[str, os.PathLike[str]]) -> None:
        """Loads what `save` has saved, and continues with the same bits.

        Raises `Error`, and changes nothing, if the file was made with other settings or is of another model.
        """
        self._core.load(path_bytes(path))

    def load_weights(self, path: Union[str, os.PathLike[str]]) -> None:
        """Loads parameters and buffers alone, from a checkpoint or any file of safetensors, such as a state_dict.

        Files have the order of dimensions that the variable's `dims_in_files` says; `read` and `write` have that of its
        type.
        """
        self._core.load_weights(path_bytes(path))

    @property
    def steps(self) -> int:
        """The number of attempts so far."""
        return self._core.steps

    @property
    def skipped(self) -> int:
        """The number of steps that were skipped."""
        return self._core.skipped

    @property
    def device(self) -> str:
        """Where the step runs: ``"cpu"``, ``"cuda:0"``."""
        return self._core.device

    @property
    def planned_bytes(self) -> int:
        """The bytes of the state and of all temporary values together."""
        return self._core.planned_bytes

    def __repr__(self) -> str:
        inputs = ", ".join(f"{i.name}: {i.dtype}{list(i.shape)}" for i in self.inputs.values())
        return f"<mantissa.Step of ({inputs}) on {self.device}, {self.steps} steps>"


def path_bytes(path: Union[str, os.PathLike[str]]) -> bytes:
    """The path as the system has it."""
    text = os.fsencode(path)
    if b"\0" in text:
        raise ValueError("embedded null byte")
    return text


def _dict(inputs: Mapping[str, Array]) -> Dict[str, Any]:
    return inputs if isinstance(inputs, dict) else dict(inputs)


def _infos(tensors: List[Tuple[str, str, Tuple[int, ...], str]]) -> Dict[str, TensorInfo]:
    return {tensor[0]: TensorInfo(*tensor) for tensor in tensors}
