"""Trains models in mixed precision from arrays: NumPy's, or those of any package with DLPack.

A model is a module of the MLIR dialect ``mp``: its text, or a file.

>>> step = mantissa.compile("mlp.mlir", batch=128)
>>> step({"image": images, "label": labels}).loss
2.3102

``docs/python.md`` shows all of it.
"""

from mantissa._core import version as __version__
from mantissa._errors import Error, Note
from mantissa._generator import Generator, SamplingOptions, WrittenToken
from mantissa._modules import Explanation, Options, compile, compile_generator, explain, load_programs, save_prediction, save_step
from mantissa._step import Array, Step, StepResult, TensorInfo

__all__ = [
    "Array",
    "Error",
    "Explanation",
    "Generator",
    "Note",
    "Options",
    "SamplingOptions",
    "Step",
    "StepResult",
    "TensorInfo",
    "WrittenToken",
    "__version__",
    "compile",
    "compile_generator",
    "explain",
    "load_programs",
    "save_prediction",
    "save_step",
]

# The files of the package are nobody's business: messages and documentation name the package.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
del _name
