#!/usr/bin/env python3
"""Lets TensorFlow (2.15.1) run the cases of tools/golden/<family>.py and writes tests/golden/<family>.txt (format: tests/golden/golden.proto).

    python tools/golden/make.py math nn ...     # all families without arguments

Stops with exit code 1, writing nothing, if TensorFlow does not answer a case as the case says.
"""
import sys

HERE = sys.path.pop(0)  # random.py, math.py … of this folder must not hide Python's own modules
import importlib.util
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.framework import op_def_library, op_def_registry



def load(name, as_name):
    spec = importlib.util.spec_from_file_location(as_name, os.path.join(HERE, name + ".py"))
    module = sys.modules[as_name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


vocabulary = load("cases", "cases")
v1 = tf.compat.v1
CODES = ("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED "
         "OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED").split()


def session():
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.rewrite_options.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    return v1.Session(config=config)


# ---- text ----

def quoted(data):
    if isinstance(data, str):
        data = data.encode()
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else "\\%03o" % b for b in data) + '"'


def number(x):
    x = float(x) if not isinstance(x, np.floating) else x
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    text = str(x)
    return text[:-2] if text.endswith(".0") else text


def type_text(dtype, shape):
    return '%s[%s]' % (dtype, ",".join(str(int(d)) for d in shape))


def as_array(value):
    """A single string stays what it is: NumPy's own type for strings drops zero bytes at the end."""
    return np.array(value, object) if isinstance(value, bytes) else np.asarray(value)


def values_text(value, dtype):
    """value: NumPy array as TensorFlow returns it; the fields of a Tensor after `type`."""
    flat = as_array(value).reshape(-1)
    if flat.size == 0:
        return ""
    if dtype == "string":
        return " s: [%s]" % ", ".join(quoted(v) for v in flat)
    if dtype.startswith("complex"):
        return " f: [%s]" % ", ".join("%s, %s" % (number(v.real), number(v.imag)) for v in flat)
    if dtype in ("float", "double", "half", "bfloat16"):
        if dtype in ("half", "bfloat16"):
            flat = flat.astype(np.float32)
        return " f: [%s]" % ", ".join(number(v) for v in flat)
    if dtype.startswith("uint"):
        return " u: [%s]" % ", ".join(str(int(v)) for v in flat)
    return " i: [%s]" % ", ".join(str(int(v)) for v in flat)


NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def dtype_name(dtype):
    name = dtype.base_dtype.name
    return NAMES.get(name, name)


def tensor_text(value, dtype):
    value = as_array(value)
    return "type: %s%s" % (quoted(type_text(dtype, value.shape)), values_text(value, dtype))


def attr_text(name, proto):
    return "attr { name: %s value { %s } }" % (quoted(name), text_format.MessageToString(proto, as_one_line=True))


def attrs_text(node_def):
    """Type attrs always, others where they differ from the op's default."""
    op_def = op_def_registry.get(node_def.op)
    lines = []
    for attr in op_def.attr:
        if attr.name not in node_def.attr:
            continue
        proto = node_def.attr[attr.name]
        if attr.type not in ("type", "list(type)") and attr.HasField("default_value") and attr.default_value == proto:
            continue
        lines.append(attr_text(attr.name, proto))
    return lines


# ---- building ----

def to_numpy(value):
    """(array, DType or None) of a case's value."""
    if isinstance(value, vocabulary.Typed):
        dtype = tf.as_dtype(value.dtype)
        return value.array.astype(dtype.as_numpy_dtype), dtype
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind in "SUO":
            made = np.empty(array.size, object)
            made[:] = [v.encode() if isinstance(v, str) else v for v in array.reshape(-1)]
            return made.reshape(array.shape), tf.string
        return array, tf.as_dtype(array.dtype)
    return value, None


class Builder:
    """The graph of one case, and its text."""

    def __init__(self, spec):
        self.spec = spec
        self.feeds = {}
        self.helpers = {}        # id(Node) -> (name, tensors, Operation)
        self.variables = []      # tensors to read at the end
        self.initializers = []
        self.in_lines, self.node_lines = [], []
        self.grad_inputs = []

    def constant_type(self, arg, op_def, inputs):
        """The type of a Python number among the inputs: the arg's own, or what the other inputs or attrs say."""
        if arg.type:
            return tf.as_dtype(arg.type)
        if arg.type_attr in self.spec["attrs"]:
            return tf.as_dtype(self.spec["attrs"][arg.type_attr])
        for other, value in zip(op_def.input_arg, inputs):
            if other.type_attr != arg.type_attr:
                continue
            for item in value if isinstance(value, list) else [value]:
                item = item.value if isinstance(item, vocabulary.Variable) else item
                found = to_numpy(item)[1] if not isinstance(item, (vocabulary.Node, vocabulary.Port)) else None
                if found is not None:
                    return found
        return None

    def array(self, value, arg, op_def, inputs):
        array, dtype = to_numpy(value)
        if dtype is None:
            dtype = self.constant_type(arg, op_def, inputs)
            if dtype is None:
                sample = np.asarray(array)
                dtype = {"f": tf.float32, "i": tf.int32, "b": tf.bool, "S": tf.string, "U": tf.string, "O": tf.string}[sample.dtype.kind]
            array = np.array(array, dtype.as_numpy_dtype)
        return array, dtype

    def add_input(self, value, arg, op_def, inputs):
        if isinstance(value, (vocabulary.Node, vocabulary.Port)):
            tensor, name = self.helper_output(value)
            self.in_lines.append("in { node: %s }" % quoted(name))
            self.grad_inputs.append(None)
            return tensor
        if isinstance(value, vocabulary.Variable):
            return self.add_variable(value, arg, op_def, inputs)
        array, dtype = self.array(value, arg, op_def, inputs)
        self.in_lines.append("in { %s }" % tensor_text(array, dtype_name(dtype)))
        is_fed = self.spec["error"] is not None or dtype.is_floating or dtype.is_complex
        if not is_fed:
            tensor = tf.constant(array, dtype)
        else:
            tensor = v1.placeholder(dtype, None if self.spec["error"] is not None else array.shape)
            self.feeds[tensor] = array
        self.grad_inputs.append(tensor if dtype.is_floating or dtype.is_complex else None)
        return tensor

    def add_variable(self, variable, arg, op_def, inputs):
        array, dtype = self.array(variable.value, arg, op_def, inputs)
        declared = array.shape if variable.shape is None else tuple(variable.shape)
        kind = variable.kind + ("" if variable.initialized else "?")
        shown = ""
        if variable.shape is not None:
            shown = " declared { %s }" % text_format.MessageToString(tf.TensorShape(declared).as_proto(), as_one_line=True)
        self.in_lines.append('in { %s kind: "%s"%s }' % (tensor_text(array, dtype_name(dtype)), kind, shown))
        if variable.kind == "ref":
            tensor = tf.raw_ops.VariableV2(shape=declared, dtype=dtype)
            if variable.initialized:
                self.initializers.append(tf.raw_ops.Assign(ref=tensor, value=tf.constant(array, dtype), validate_shape=variable.shape is None).op)
            self.variables.append(tensor)
        else:
            tensor = tf.raw_ops.VarHandleOp(dtype=dtype, shape=declared, shared_name="variable_%d" % len(self.variables))
            if variable.initialized:
                self.initializers.append(tf.raw_ops.AssignVariableOp(resource=tensor, value=tf.constant(array, dtype)))
            self.variables.append(tf.raw_ops.ReadVariableOp(resource=tensor, dtype=dtype))
        if not variable.initialized:
            self.variables[-1] = None
        self.grad_inputs.append(tensor if dtype.is_floating or dtype.is_complex else None)
        return tensor

    def helper_output(self, value):
        made = value.node if isinstance(value, vocabulary.Port) else value
        output = value.output
        name, tensors, _ = self.helper(made)
        return tensors[output], name if output == 0 else "%s:%d" % (name, output)

    def helper(self, made):
        if id(made) in self.helpers:
            return self.helpers[id(made)]
        op_def = op_def_registry.get(made.op)
        names, keywords = [], {}

        def one(value, arg):
            if isinstance(value, (vocabulary.Node, vocabulary.Port)):
                tensor, name = self.helper_output(value)
                names.append(name)
                return tensor
            array, dtype = self.array(value, arg, op_def, made.inputs)
            name = "const_%d" % len(self.node_lines)
            self.node_lines.append('node { name: "%s" op: "Const" value { %s } }' % (name, tensor_text(array, dtype_name(dtype))))
            names.append(name)
            return tf.constant(array, dtype)

        for arg, value in zip(op_def.input_arg, made.inputs):
            keywords[arg.name] = [one(item, arg) for item in value] if isinstance(value, list) else one(value, arg)
        op = make_op(made.op, keywords, made.attrs)
        name = "%s_%d" % (made.op, len(self.node_lines))
        lines = ['name: "%s" op: "%s"' % (name, made.op)] + ["in: " + quoted(n) for n in names] + attrs_text(op.node_def)
        self.node_lines.append("node { %s }" % " ".join(lines))
        self.helpers[id(made)] = (name, op.outputs, op)
        return self.helpers[id(made)]


def default_attrs(op_name, given):
    """The defaults of attrs that neither the case nor the inputs determine."""
    op_def = op_def_registry.get(op_name)
    implied = {n for arg in op_def.input_arg for n in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    made = {}
    for attr in op_def.attr:
        if attr.name in implied or attr.name in given or not attr.HasField("default_value"):
            continue
        value = attr.default_value
        if value.HasField("list"):
            field = attr.type[5:-1]
            made[attr.name] = list(getattr(value.list, {"string": "s", "int": "i", "float": "f", "bool": "b"}.get(field, field)))
        else:
            made[attr.name] = getattr(value, value.WhichOneof("value"))
    return made


def make_op(op_name, keywords, attrs):
    graph = v1.get_default_graph()
    before = len(graph.get_operations())
    op_def_library.apply_op(op_name, **keywords, **attrs, **default_attrs(op_name, attrs))
    for op in graph.get_operations()[before:]:
        if op.type == op_name:
            return op
    raise ValueError("no node of op %s was made" % op_name)


def weights(index, tensor_shape, dtype):
    """The gradient that flows into output `index`; the same numbers as in tests/golden_test.cc."""
    count = int(np.prod(tensor_shape))
    values = 0.25 + 0.5 * ((7 * np.arange(count) + 3 * index) % 5 - 2)
    return tf.constant(values.reshape(tensor_shape), dtype)


def build_case(spec):
    builder = Builder(spec)
    op_def = op_def_registry.get(spec["op"])
    if op_def is None:
        raise ValueError("TensorFlow has no op " + spec["op"])
    if len(spec["inputs"]) != len(op_def.input_arg):
        raise ValueError("%s has %d inputs (%s), the case gives %d" %
                         (spec["op"], len(op_def.input_arg), ", ".join(a.name for a in op_def.input_arg), len(spec["inputs"])))
    keywords = {}
    for arg, value in zip(op_def.input_arg, spec["inputs"]):
        if isinstance(value, list):
            keywords[arg.name] = [builder.add_input(item, arg, op_def, spec["inputs"]) for item in value]
        else:
            keywords[arg.name] = builder.add_input(value, arg, op_def, spec["inputs"])
    op = make_op(spec["op"], keywords, spec["attrs"])
    return builder, op


def fetchable(tensor):
    return tensor.dtype.base_dtype not in (tf.resource, tf.variant)


def output_lines(op, values):
    lines = []
    for tensor in op.outputs:
        if fetchable(tensor):
            lines.append("out { %s }" % tensor_text(next(values), dtype_name(tensor.dtype)))
        else:
            lines.append('out { type: "%s" }' % dtype_name(tensor.dtype))
    return lines


def gradient_lines(sess, builder, op, shapes):
    ys, grad_ys = [], []
    for index, (tensor, shape) in enumerate(zip(op.outputs, shapes)):
        if tensor.dtype.base_dtype.is_floating or tensor.dtype.base_dtype.is_complex:
            ys.append(tensor)
            grad_ys.append(weights(index, shape, tensor.dtype.base_dtype))
    wanted = [t for t in builder.grad_inputs if t is not None]
    grads = iter(tf.gradients(ys, wanted, grad_ys))
    dense = [None if t is None else next(grads) for t in builder.grad_inputs]
    dense = [None if g is None else tf.convert_to_tensor(g) for g in dense]
    values = iter(sess.run([g for g in dense if g is not None], builder.feeds))
    return ['grad { type: "none" }' if g is None else "grad { %s }" % tensor_text(next(values), dtype_name(g.dtype)) for g in dense]


def run_case(spec, name):
    with tf.Graph().as_default(), session() as sess:
        results = []
        error, message = None, ""
        builder, op = build_case(spec)  # what TensorFlow refuses to build cannot be recorded
        try:
            setup = [builder.helper(n) for n in spec["setup"]]
            after = [builder.helper(n.node)[1][n.output] if isinstance(n, vocabulary.Port) else builder.helper(n)[1][n.output] for n in spec["after"]]
            if builder.initializers:
                sess.run(builder.initializers)
            for step in setup:
                sess.run(step[2])
            values = []
            for _ in range(spec["runs"]):
                values.append(sess.run([t for t in op.outputs if fetchable(t)] + [op], builder.feeds)[:-1])
            for run in values:
                results += output_lines(op, iter(run))
            read = [v for v in builder.variables if v is not None]
            results += ["variable { %s }" % tensor_text(x, dtype_name(v.dtype)) for v, x in zip(read, sess.run(read))]
            for tensor in after:
                results.append("after_out { %s }" % tensor_text(sess.run(tensor), dtype_name(tensor.dtype)))
            if spec["grad"]:
                shapes = iter([np.asarray(x).shape for x in values[-1]])
                shapes = [next(shapes) if fetchable(t) else None for t in op.outputs]
                results += gradient_lines(sess, builder, op, shapes)
        except tf.errors.OpError as e:
            error, message = CODES[e.error_code], e.message
        if error != spec["error"]:
            raise ValueError("the case says %s, TensorFlow %s %s" % (spec["error"], error, message))
        if spec["text"] and spec["text"] not in message:
            raise ValueError("the message is %r" % message)
        if error is not None:
            results = ['error: "%s"' % error] + (["text: " + quoted(spec["text"])] if spec["text"] else [])
        lines = ['name: "%s" op: "%s"' % (name, spec["op"])] + builder.in_lines + attrs_text(op.node_def) + builder.node_lines
        lines += ["setup: " + quoted(builder.helper(n)[0]) for n in spec["setup"]]
        lines += ["after: " + quoted(builder.helper_output(n)[1]) for n in spec["after"]]
        if spec["tol"]:
            lines.append("tol: %r" % spec["tol"])
        if spec["runs"] != 1:
            lines.append("runs: %d" % spec["runs"])
        if spec["shape_only"]:
            lines.append("shape_only: true")
        return "test {\n" + "".join("  %s\n" % line for line in lines + results) + "}\n"


def make_family(family):
    vocabulary.CASES.clear()
    load(family, "golden_" + family)
    texts, failures, taken = [], [], {}
    for spec in vocabulary.CASES:
        wish = spec["name"] or "case"
        key = (spec["op"], wish)
        taken[key] = taken.get(key, 0) + 1
        name = wish if spec["name"] and taken[key] == 1 else "%s_%d" % (wish, taken[key])
        try:
            texts.append(run_case(spec, name))
        except Exception as e:  # whatever it is, the list of all failures is what the author needs
            failures.append("%s/%s/%s: %s: %s" % (family, spec["op"], name, type(e).__name__, e))
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        return False
    path = os.path.join(HERE, "..", "..", "tests", "golden", family + ".txt")
    with open(path, "w") as file:
        file.write("# Made by tools/golden/make.py from tools/golden/%s.py with TensorFlow %s.\n" % (family, tf.__version__))
        file.write("".join(texts))
    print("%s: %d cases, %d KB" % (family, len(texts), os.path.getsize(path) // 1024))
    return True


def main():
    families = sys.argv[1:] or sorted(f[:-3] for f in os.listdir(HERE) if f.endswith(".py") and f not in ("cases.py", "make.py"))
    v1.disable_eager_execution()
    sys.exit(0 if all([make_family(f) for f in families]) else 1)


if __name__ == "__main__":
    main()
