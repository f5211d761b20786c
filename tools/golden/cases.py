"""The vocabulary of the case files in this folder (math.py, nn.py ...): each lists calls of `case`; make.py lets TensorFlow run them.

    from cases import case, f32, i32, arr, ref, var, node, strs

    case("AddV2", [f32(2, 3), f32(3)], grad=True)                  # inputs in the op's order
    case("Sum", [f32(2, 3), i32([1])], keep_dims=True, name="keeps_dims")
    case("Pack", [[f32(2), f32(2)]], axis=1)                       # a list input is a Python list
    case("ApplyAdam", [ref(f32(3)), ref(f32(3)), ..., 0.9])        # variables; their values after the run are recorded
    case("Gather", [f32(3), i32([7])], error="INVALID_ARGUMENT")   # TensorFlow must fail with that code
    q = node("FIFOQueueV2", component_types=["float"])             # an op whose output 0 is an input of the case
    case("QueueDequeueV2", [q], component_types=["float"], setup=[node("QueueEnqueueV2", q, [f32(3)])])

Needs NumPy only. Random arrays depend on their arguments and their place within the case, so that adding a case changes no other.
"""
import zlib

import numpy as np

CASES = []
_drawn = 0  # arrays drawn since the last case


def _rng(*key):
    global _drawn
    _drawn += 1
    return np.random.RandomState(zlib.crc32(repr((key, _drawn)).encode()))


def _floats(dtype, shape, lo, hi):
    return np.asarray(_rng(dtype, shape, lo, hi).uniform(lo, hi, shape).round(3)).astype(dtype)


def _ints(dtype, shape, lo, hi):
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        return np.array(shape[0], dtype)
    return np.asarray(_rng(dtype, shape, lo, hi).randint(lo, hi, shape)).astype(dtype)


def f32(*shape, lo=-2.0, hi=2.0):
    """Uniform in [lo, hi), rounded to three digits; f32() is a scalar."""
    return _floats("float32", shape, lo, hi)


def f64(*shape, lo=-2.0, hi=2.0):
    return _floats("float64", shape, lo, hi)


def f16(*shape, lo=-2.0, hi=2.0):
    return _floats("float16", shape, lo, hi)


def bf16(*shape, lo=-2.0, hi=2.0):
    return Typed(_floats("float32", shape, lo, hi), "bfloat16")


def c64(*shape, lo=-2.0, hi=2.0):
    return (_floats("float32", shape, lo, hi) + 1j * _floats("float32", shape, lo, hi)).astype(np.complex64)


def c128(*shape, lo=-2.0, hi=2.0):
    return (_floats("float64", shape, lo, hi) + 1j * _floats("float64", shape, lo, hi)).astype(np.complex128)


def i32(*shape, lo=-5, hi=6):
    """Uniform in [lo, hi), or i32([1, 2]) for these very values."""
    return _ints("int32", shape, lo, hi)


def i64(*shape, lo=-5, hi=6):
    return _ints("int64", shape, lo, hi)


def i8(*shape, lo=-5, hi=6):
    return _ints("int8", shape, lo, hi)


def i16(*shape, lo=-5, hi=6):
    return _ints("int16", shape, lo, hi)


def u8(*shape, lo=0, hi=10):
    return _ints("uint8", shape, lo, hi)


def u16(*shape, lo=0, hi=10):
    return _ints("uint16", shape, lo, hi)


def u32(*shape, lo=0, hi=10):
    return _ints("uint32", shape, lo, hi)


def u64(*shape, lo=0, hi=10):
    return _ints("uint64", shape, lo, hi)


def bools(*shape):
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        return np.array(shape[0], bool)
    return np.asarray(_rng("bool", shape).randint(0, 2, shape)).astype(bool)


def arr(values, dtype=None):
    """These values; dtype is NumPy's, or "bfloat16"."""
    if dtype == "bfloat16":
        return Typed(np.array(values, np.float32), dtype)
    return np.array(values, dtype)


def strs(*values, shape=None):
    """A vector (or a tensor of `shape`) of byte strings."""
    made = np.empty(len(values), object)
    made[:] = [v.encode() if isinstance(v, str) else v for v in values]
    return made if shape is None else made.reshape(shape)


class Typed:
    """An array of a type that NumPy does not have."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype


class Variable:
    def __init__(self, value, kind, initialized, shape):
        self.value, self.kind, self.initialized, self.shape = value, kind, initialized, shape


def ref(value, initialized=True, shape=None):
    """A VariableV2 that holds `value`; not initialised, it only has its type and shape."""
    return Variable(value, "ref", initialized, shape)


def var(value, initialized=True, shape=None):
    """The same as a VarHandleOp. `shape` is the declared one, if it is not that of the value: () of unknown rank is None in it."""
    return Variable(value, "var", initialized, shape)


class Node:
    def __init__(self, op, inputs, output, attrs):
        self.op, self.inputs, self.output, self.attrs = op, list(inputs), output, attrs

    def __getitem__(self, output):
        """Another output of the same node."""
        return Port(self, output)


class Port:
    def __init__(self, made, output):
        self.node, self.output = made, output


def node(op, *inputs, output=0, **attrs):
    """An op that feeds the case (or a setup step). The same object is the same node of the graph."""
    return Node(op, inputs, output, attrs)


def case(op, inputs=(), *, name=None, grad=False, error=None, text=None, tol=None, runs=1, shape_only=False, setup=(), after=(), attrs=None, **more_attrs):
    """One test.

    grad        also d sum(output * weights) / d(input) for each floating input (TensorFlow's gradient function)
    error       name of the code that the run ends with; `text` a part of its message
    tol         relative tolerance, if not that of the type (float 1e-5, double 1e-12, half 2e-3, bfloat16 2e-2; others exact)
    runs        number of runs in one session, all recorded
    shape_only  do not compare the values, only types and shapes
    setup       nodes run one after the other before, each by itself
    after       nodes whose outputs are fetched afterwards
    attrs       attrs whose names are taken above
    """
    global _drawn
    _drawn = 0
    CASES.append(
        dict(op=op, inputs=list(inputs), name=name, grad=grad, error=error, text=text, tol=tol, runs=runs, shape_only=shape_only, setup=list(setup),
             after=list(after), attrs={**(attrs or {}), **more_attrs}))
