"""Modules and options: what may be given, and what explain says."""

import inspect
import json
import pathlib
import pickle
import unittest
import warnings

import mantissa
from _model import TEXT, batch, compiled, message


class Modules(unittest.TestCase):
    def test_text_or_path(self):
        path = pathlib.Path("net{1}.mlir")
        path.write_text(TEXT)
        for source in (TEXT, path):
            self.assertEqual(mantissa.compile(source, batch=2).inputs["x"].shape, (2, 8))
        pathlib.Path("net.mlir").write_text(TEXT)
        self.assertEqual(mantissa.compile("net.mlir", batch=2).inputs["x"].shape, (2, 8))

    def test_mistakes(self):
        self.assertEqual(message(mantissa.compile, "none.mlir"), "none.mlir: No such file or directory")
        self.assertEqual(message(mantissa.compile, "module {}"), "<module>: the module has no recipe (mp.train)")
        self.assertRegex(message(mantissa.compile, TEXT.replace("mp.linear", "mp.linaer")), "^<module>:8:8: error: .*mp.linaer")
        self.assertRegex(message(mantissa.compile, 3, kind=TypeError), "expected str, bytes or os.PathLike object, not int")


class Options(unittest.TestCase):
    def test_values(self):
        for expected, options in (
                ("unknown precision 'fp17', did you mean 'fp16', 'fp32' or 'fp8'?", {"precision": "fp17"}),
                ("unknown loss scaler 'tarch', did you mean 'torch'?", {"scaler": "tarch"}),
                ("unknown loss scaler 'static:x', expected a name, or a scale as in static:128", {"scaler": "static:x"}),
                ("unknown device 'gpu', did you mean 'cpu'?", {"device": "gpu"}),
                ("StepOptions::batch is -1, expected a number from 0 ", {"batch": -1})):
            with self.subTest(**options):
                self.assertIn(expected, message(compiled, **options))

    def test_types(self):
        for expected, options in (
                ("batch is 2.5, expected int", {"batch": 2.5}), ("precision is 16, expected str", {"precision": 16}),
                ("outputs is 'grad:fc.bias', expected Sequence[str]", {"outputs": "grad:fc.bias"})):
            with self.subTest(**options):
                self.assertEqual(message(compiled, kind=TypeError, **options), expected)

    def test_names(self):
        self.assertEqual(message(mantissa.explain, TEXT, bach=4, kind=TypeError), "explain() got an unexpected keyword argument 'bach'")
        parameters = list(inspect.signature(mantissa.compile).parameters)
        self.assertEqual(parameters, ["module", *mantissa.Options.__annotations__])

    def test_scale(self):
        self.assertEqual(compiled(scaler="static:128")(batch()).loss_scale, 128)

    def test_warnings(self):
        unscaled = TEXT.replace("scaler(@scaler)", "")
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            mantissa.compile(unscaled, batch=2)
        self.assertEqual([(note.category, note.filename) for note in noted], [(mantissa.Note, __file__)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIn("trains in f16 without a loss scaler", message(mantissa.compile, unscaled, batch=2, kind=mantissa.Note))


class Explain(unittest.TestCase):
    def test_decisions(self):
        explanation = mantissa.explain(TEXT, batch=2)
        self.assertEqual([(op["op"], op["runs_in"]) for op in explanation[0]["ops"]], [("mp.linear", "f16"), ("mp.cross_entropy", "f32")])
        self.assertEqual(json.loads(explanation.json), explanation)
        lines = [line.split() for line in str(explanation).splitlines()]
        self.assertEqual(lines[1][:4], ["<module>:8:8", "mp.linear", "f16", "3"])

    def test_options(self):
        self.assertEqual({op["runs_in"] for op in mantissa.explain(TEXT, batch=2, precision="bf16")[0]["ops"]}, {"bf16", "f32"})


class Names(unittest.TestCase):
    def test_public(self):
        for name in mantissa.__all__:
            if isinstance(getattr(mantissa, name), type):
                self.assertEqual(getattr(mantissa, name).__module__, "mantissa")
        self.assertTrue(issubclass(mantissa.Error, RuntimeError))
        self.assertIsInstance(pickle.loads(pickle.dumps(mantissa.Error("x"))), mantissa.Error)
        self.assertEqual(repr(compiled()), "<mantissa.Step of (x: float32[4, 8], label: uint8[4]) on cpu, 0 steps>")


if __name__ == "__main__":
    unittest.main()
