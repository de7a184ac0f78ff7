"""The state of a step: variables, files, learning rates, compiled steps."""

import os
import unittest

import numpy

import mantissa
from _model import ROWS, TEXT, batch, compiled, message


def losses(step, seeds):
    return [step(batch(seed)).loss for seed in seeds]


def state(step):
    """What a checkpoint holds: not what is derived from other variables."""
    return {name: step.read(name).tobytes() for name, variable in step.variables().items() if variable.kind != "derived"}


class Files(unittest.TestCase):
    def test_a_loaded_step_continues_with_the_same_bits(self):
        step = compiled(seed=1)
        losses(step, range(3))
        step.save("step.safetensors")
        saved, expected = state(step), losses(step, range(3, 6))
        other = compiled(seed=2)
        self.assertNotEqual(state(other), saved)
        other.load("step.safetensors")
        self.assertEqual(state(other), saved)
        self.assertEqual((other.steps, losses(other, range(3, 6)), state(other)), (3, expected, state(step)))

    def test_weights_alone(self):
        step, other = compiled(seed=1), compiled(seed=2)
        losses(step, range(3))
        step.save("weights.safetensors")
        other.load_weights("weights.safetensors")
        self.assertTrue((other.read("fc.weight") == step.read("fc.weight")).all())
        self.assertEqual(other.steps, 0)

    def test_a_damaged_file_changes_nothing(self):
        step = compiled()
        step.save("damaged.safetensors")
        with open("damaged.safetensors", "r+b") as file:
            file.truncate(os.path.getsize("damaged.safetensors") - 8)
        losses(step, range(2))
        before = state(step)
        self.assertRegex(message(step.load, "damaged.safetensors"), "damaged.safetensors: ")
        self.assertEqual(state(step), before)

    def test_other_settings(self):
        compiled().save("fp16.safetensors")
        self.assertRegex(message(compiled(precision="fp32").load, "fp16.safetensors"), "^fp16.safetensors was made with the recipe's precision instead of")

    def test_names_of_files(self):
        step = compiled()
        name = os.fsdecode(b"\xff.safetensors")
        step.save(name)
        step.load(name)
        self.assertIn(name, message(step.load, "no-" + name))
        self.assertEqual(message(step.save, "a\0b", kind=ValueError), "embedded null byte")

    def test_compiled_files(self):
        mantissa.save_step(TEXT, "step.program", batch=ROWS)
        mantissa.save_prediction(TEXT, "predict.program", batch=ROWS)
        loaded, step = mantissa.load_programs(["step.program", "predict.program"], seed=3), compiled(seed=3)
        self.assertEqual(losses(loaded, range(3)), losses(step, range(3)))
        x = {"x": batch()["x"]}
        self.assertEqual(loaded.predict(x)["y"].tobytes(), step.predict(x)["y"].tobytes())
        self.assertEqual(message(loaded.predict, {"x": x["x"][:3]}), "no saved Program holds a prediction of 3 rows, but of 4")
        self.assertEqual(message(mantissa.load_programs, "step.program", kind=TypeError), "paths is one path, expected a list of them")


class Variables(unittest.TestCase):
    def setUp(self):
        self.step = compiled()

    def test_list(self):
        variables = self.step.variables()
        self.assertEqual(variables["fc.weight"], ("fc.weight", "float32", (3, 8), "parameter"))
        self.assertEqual(variables["step.applied"].dtype, "int64")
        self.assertEqual(self.step.inputs, {"x": ("x", "float32", (ROWS, 8), "input"), "label": ("label", "uint8", (ROWS,), "input")})
        self.assertEqual(self.step.predict_inputs(7), {"x": ("x", "float32", (7, 8), "input")})

    def test_write(self):
        weight = numpy.arange(24, dtype=numpy.float32).reshape(3, 8)
        self.step.write("fc.weight", weight)
        self.assertTrue((self.step.read("fc.weight") == weight).all())
        self.assertTrue((self.step.read("fc.weight.f16") == weight).all())  # what is derived from it
        self.step.write("step.applied", numpy.int64(7))
        self.assertEqual(self.step.read("step.applied").shape, ())
        self.assertEqual(self.step.read("step.applied"), 7)

    def test_mistakes(self):
        self.assertEqual(message(self.step.read, "fc.wieght"), "there is no variable 'fc.wieght', did you mean 'fc.weight' or 'fc.weight.f16'?")
        self.assertEqual(message(self.step.write, "fc.bias", numpy.zeros(4, numpy.float32)), "'fc.bias' is 4xf32, expected 3xf32")
        self.assertEqual(message(self.step.write, "fc.bias", numpy.zeros(3, numpy.uint16)), "'fc.bias' is 3xui16, expected 3xf32")
        self.assertRegex(message(self.step.write, "fc.bias", None, kind=TypeError), "^'fc.bias' is None, expected an array")

    def test_initialize(self):
        first = state(self.step)
        losses(self.step, range(2))
        self.step.initialize(0)
        self.assertEqual((self.step.steps, state(self.step)), (0, first))
        self.step.initialize(1)
        self.assertNotEqual(state(self.step), first)


class Numbers(unittest.TestCase):
    def test_learning_rate(self):
        step = compiled()
        rates = [step(batch()).learning_rate]
        step.set_learning_rate(0.5)
        rates.append(step(batch()).learning_rate)
        step.scale_learning_rate(0.5)
        rates.append(step(batch()).learning_rate)
        step.reset_learning_rate()
        rates.append(step(batch()).learning_rate)
        self.assertEqual(rates, [numpy.float32(0.01), 0.5, 0.25, numpy.float32(0.01)])
        self.assertEqual(message(step.set_learning_rate, -1), "the learning rate is -1, expected a finite number from 0 on")

    def test_result(self):
        step = compiled(outputs=["grad:fc.weight"])
        result = step(batch())
        self.assertEqual((result.step, result.loss_scale, result.skipped, result.exhausted), (1, 65536, False, False))
        self.assertEqual(result["loss"], result.loss)
        self.assertIs(type(result["loss"]), float)
        self.assertIn("grad:fc.weight", list(result))
        self.assertAlmostEqual(result.gradient_norm, numpy.sqrt((result["grad:fc.weight"] ** 2).sum() + self.bias_gradient() ** 2), 5)
        self.assertRaisesRegex(KeyError, "no result 'nothing'.*'loss'", lambda: result["nothing"])

    def bias_gradient(self):
        gradient = compiled(outputs=["grad:fc.bias"])(batch())["grad:fc.bias"]
        return numpy.sqrt((gradient ** 2).sum())

    def test_a_step_that_overflows_is_skipped(self):
        step = compiled(scaler="static:1e30")
        before = step.read("fc.weight")
        result = step(batch())
        self.assertTrue(result.skipped)
        self.assertEqual((step.skipped, step.read("fc.weight").tobytes()), (1, before.tobytes()))

    def test_where_values_stop_being_finite(self):
        step, inputs = compiled(), batch()
        self.assertEqual(step.find_non_finite(inputs), "")
        inputs["x"][2, 3] = numpy.inf
        self.assertRegex(step.find_non_finite(inputs), "^input 'x' at <module>:4:17: 4x8xf32, 1 of 32 not finite")
        self.assertEqual(step.steps, 0)

    def test_arrays_outlive_the_step(self):
        step = compiled()
        y = step(batch(1))["y"]
        kept = y.copy()
        step(batch(2))
        del step
        self.assertEqual(y.tobytes(), kept.tobytes())
        self.assertTrue(y.flags.owndata and y.flags.writeable)

    def test_micro_batches(self):
        step = compiled(accumulate=2)
        self.assertEqual(step.inputs["x"].shape, (2 * ROWS, 8))
        self.assertTrue(step(batch(rows=2 * ROWS)).loss > 0)

    def test_predictions_keep_the_state(self):
        step = compiled()
        before = state(step)
        for rows in (1, 5):
            self.assertEqual(step.predict({"x": batch(rows=rows)["x"]})["y"].shape, (rows, 3))
        self.assertEqual(message(step.predict, {"x": batch()["x"].astype(numpy.uint32)}), "'x' is 4x8xui32, expected 4x8xf32")
        self.assertEqual(state(step), before)


if __name__ == "__main__":
    unittest.main()
