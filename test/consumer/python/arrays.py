"""What counts as an array, and what is wrong with one."""

import array
import ctypes
import sys
import types
import unittest

import numpy

import mantissa
from _model import ROWS, batch, compiled, message


class Dlpack:
    """An array of a package with DLPack and nothing else."""

    def __init__(self, values, error=None):
        self.values, self.error = values, error

    def __dlpack__(self, **keywords):
        if self.error:
            raise self.error
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return 1, 0


class Tensor(ctypes.Structure):
    """DLManagedTensor, for memory that NumPy would not give."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def capsule(data, device=1, code=1, bits=8, lanes=1):
    """A capsule of ROWS elements, and what has to stay alive with it."""
    shape = (ctypes.c_int64 * 1)(ROWS)
    tensor = Tensor(data=data, device=device, rank=1, code=code, bits=bits, lanes=lanes, shape=ctypes.addressof(shape))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(tensor), b"dltensor", None), (tensor, shape)


class Taken(unittest.TestCase):
    def setUp(self):
        self.expected = compiled().run(batch()).loss

    def check(self, **values):
        self.assertEqual(compiled().run({**batch(), **values}).loss, self.expected)

    def test_read_only(self):
        x = batch()["x"]
        x.flags.writeable = False
        self.check(x=x)

    def test_buffers(self):
        label = batch()["label"]
        for same in (label.tobytes(), bytearray(label), memoryview(label), array.array("B", label)):
            self.check(label=same)

    def test_dlpack(self):
        self.check(x=Dlpack(batch()["x"]), label=Dlpack(batch()["label"]))

    def test_dense_slice(self):
        self.check(x=numpy.concatenate([batch(1)["x"], batch()["x"]])[ROWS:])

    def test_any_mapping(self):
        self.assertEqual(compiled().run(types.MappingProxyType(batch())).loss, self.expected)

    def test_no_reference_is_kept(self):
        inputs = batch()
        before = sys.getrefcount(inputs["x"])
        step = compiled()
        step(inputs)
        message(step, {**inputs, "label": None}, kind=TypeError)
        message(step, {**inputs, "label": inputs["x"]})
        self.assertEqual(sys.getrefcount(inputs["x"]), before)


class Refused(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.step = compiled()

    def check(self, expected, kind=mantissa.Error, **values):
        steps = self.step.steps
        self.assertEqual(message(self.step, {**batch(), **values}, kind=kind), expected)
        self.assertEqual(self.step.steps, steps)

    def test_names(self):
        self.check("there is no input 'lable', did you mean 'label'?", lable=batch()["label"])
        self.assertEqual(message(self.step, {"x": batch()["x"]}), "input 'label' of 4xui8 is missing")
        self.assertEqual(message(self.step, {**batch(), 3: b""}, kind=TypeError), "the names of arrays are strings")

    def test_shapes(self):
        self.check("'x' is 3x8xf32, expected 4x8xf32", x=batch()["x"][:3])
        self.check("'x' is 32xf32, expected 4x8xf32", x=batch()["x"].ravel())
        self.check("'label' is ui8, expected 4xui8", label=numpy.uint8(1))
        self.check("'label': the view has 9 dimensions, and 8 are the most; expected 4xui8", label=numpy.zeros((1,) * 9, numpy.uint8))

    def test_dtypes(self):
        x = batch()["x"]
        self.check("'x' is 4x8xf64, expected 4x8xf32", x=x.astype(numpy.float64))
        self.check("'x' is 4x8xi16, expected 4x8xf32", x=x.astype(numpy.int16))
        self.check("'x' is 4x8xui64, expected elements of f32", x=x.astype(numpy.uint64))
        self.check("'x' is 4x8x(big-endian f32), expected elements of f32", x=x.astype(">f4"))
        self.check("'x' is 4x8x(format Zf), expected elements of f32", x=x.astype(numpy.complex64))
        self.check("'x' is 4x8x(datetime64[s]), expected elements of f32", x=numpy.zeros((4, 8), "M8[s]"))

    def test_strides(self):
        x = batch()["x"]
        self.check("'x': the strides of the view of 4x8xf32 are [1, 4] elements, expected dense rows: copy it",
                   x=numpy.asfortranarray(x))
        self.check("'x': the strides of the view of 4x8xf32 are [-8, 1] elements, expected dense rows: copy it", x=x[::-1])
        self.check("'label': the strides of the view of 4xui8 are [0] elements, expected dense rows: copy it",
                   label=numpy.broadcast_to(numpy.uint8(1), ROWS))
        odd = numpy.zeros(ROWS, [("a", "f4"), ("b", "u1")])["a"]
        self.check("'x': a stride of the view is 5 bytes, which are not whole elements of 4: copy it", x=odd)

    def test_alignment(self):
        x = numpy.frombuffer(bytes(4 * 8 * ROWS + 1), numpy.uint8)[1:].view(numpy.float32).reshape(ROWS, 8)
        self.assertRegex(message(self.step, {**batch(), "x": x}), "is not aligned to the 4 bytes of an element$")

    def test_range(self):
        self.check("'label' has an element out of range at 2: expected 0 to 2 or -100 (<module>:4:54)",
                   label=numpy.array([0, 1, 3, 2], numpy.uint8))

    def test_no_array(self):
        rest = "expected an array: one of NumPy, or anything with the buffer protocol or __dlpack__"
        self.check(f"'label' is None, {rest}", kind=TypeError, label=None)
        self.check(f"'label' is of type list, {rest}", kind=TypeError, label=[0, 1, 2, 0])
        self.assertEqual(message(self.step, 3, kind=TypeError), "'int' object is not iterable")

    def test_dlpack(self):
        view, alive = capsule(data=None)
        self.check("'label': the view of 4xui8 has no memory: its address is null", label=view)
        memory = ctypes.create_string_buffer(64)
        view, alive = capsule(ctypes.addressof(memory), device=2)
        self.check("'label' is in the memory of a device (DLPack's number 2), expected that of the host: copy it", label=view)
        view, alive = capsule(ctypes.addressof(memory), lanes=4)
        self.check("'label' is 4x(vectors of 4), expected elements of ui8", label=view)
        view, alive = capsule(ctypes.addressof(memory), code=2, bits=16)
        self.check("'label' is 4xf16, expected 4xui8", label=view)
        self.assertTrue(alive)
        self.check("it requires a gradient", kind=RuntimeError, x=Dlpack(None, RuntimeError("it requires a gradient")))


if __name__ == "__main__":
    unittest.main()
