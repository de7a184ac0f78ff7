"""A small network for the tests, and batches for it."""

import numpy

import mantissa

ROWS = 4
TEXT = """
mp.variable @fc.weight : tensor<3x8xf32> = #mp.init<kaiming_uniform>
mp.variable @fc.bias : tensor<3xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x8xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<?x3xf32> {mp.name = "y"}) {
  %w = mp.read @fc.weight : tensor<3x8xf32>
  %b = mp.read @fc.bias : tensor<3xf32>
  %y = mp.linear %x, %w, %b : tensor<?x8xf32>, tensor<3x8xf32>, tensor<3xf32>
  %loss = mp.cross_entropy %y, %label : tensor<?x3xf32>, tensor<?xui8>
  return %loss, %y : tensor<f32>, tensor<?x3xf32>
}
mp.scaler @scaler {preset = "torch"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.adam<lr = 0.01>}
}
"""


def compiled(**options):
    return mantissa.compile(TEXT, **{"batch": ROWS, **options})


def batch(seed=0, rows=ROWS):
    random = numpy.random.default_rng(seed)
    return {"x": random.standard_normal((rows, 8), numpy.float32), "label": random.integers(0, 3, rows, numpy.uint8)}


def message(function, *words, kind=mantissa.Error, **keywords):
    """The message of the exception that a call raises, which has to be of this very type."""
    try:
        function(*words, **keywords)
    except BaseException as error:  # pylint: disable=broad-except
        assert type(error) is kind, repr(error)
        return str(error)
    raise AssertionError("no exception")
