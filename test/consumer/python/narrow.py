"""bfloat16: ml_dtypes where it is installed, else float32."""

import sys
import unittest

import numpy

import mantissa
from _model import message

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

TEXT = """
mp.variable buffer @mean : tensor<2x4xbf16> = #mp.init<zeros>
mp.variable @w : tensor<3x4xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x4xbf16> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<?x4xbf16> {mp.name = "twice"}) {
  %twice = mp.add %x, %x : tensor<?x4xbf16>, tensor<?x4xbf16>
  %wide = mp.cast %x : tensor<?x4xbf16> to tensor<?x4xf32>
  %w = mp.read @w : tensor<3x4xf32>
  %y = mp.linear %wide, %w : tensor<?x4xf32>, tensor<3x4xf32>
  %loss = mp.cross_entropy %y, %label : tensor<?x3xf32>, tensor<?xui8>
  return %loss, %twice : tensor<f32>, tensor<?x4xbf16>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>} }
"""
VALUES = numpy.arange(8, dtype=numpy.float32).reshape(2, 4) / 4


class Narrow(unittest.TestCase):
    def setUp(self):
        self.step = mantissa.compile(TEXT, batch=2)

    def test_read(self):
        self.assertEqual(self.step.inputs["x"].dtype, "bfloat16")
        self.assertEqual(self.step.read("mean").dtype, ml_dtypes.bfloat16 if ml_dtypes else numpy.float32)

    @unittest.skipUnless(ml_dtypes, "needs ml_dtypes")
    def test_arrays(self):
        x = VALUES.astype(ml_dtypes.bfloat16)
        twice = self.step({"x": x, "label": bytes(2)})["twice"]
        self.assertEqual(twice.dtype, ml_dtypes.bfloat16)
        self.assertTrue((twice.astype(numpy.float32) == 2 * VALUES).all())
        self.step.write("mean", x)
        self.assertEqual(self.step.read("mean").tobytes(), x.tobytes())
        for other, name in ((ml_dtypes.float8_e5m2, "2x4xf8E5M2, expected 2x4xbf16"),
                            (ml_dtypes.float8_e4m3b11fnuz, "2x4x(float8_e4m3b11fnuz), expected elements of bf16")):
            self.assertEqual(message(self.step, {"x": VALUES.astype(other), "label": bytes(2)}), f"'x' is {name}")

    def test_nothing_is_converted(self):
        self.assertEqual(message(self.step, {"x": VALUES, "label": bytes(2)}), "'x' is 2x4xf32, expected 2x4xbf16")


if __name__ == "__main__":
    # The argument says whether ml_dtypes should be there.
    assert (sys.argv.pop() == "with") == bool(ml_dtypes)
    unittest.main()
