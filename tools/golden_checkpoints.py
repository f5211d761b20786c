"""Writes tests/golden/checkpoints/: small checkpoints by TensorFlow, which the tests of src/checkpoint read.

Run:  python tools/golden_checkpoints.py
"""
import os
import shutil

import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "golden", "checkpoints")


def run(make):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(make())


def save(prefix, named, slices=None):
    names = [name for name, _ in named]
    run(lambda: tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=slices or [""] * len(names),
                                  tensors=[tf.constant(value) for _, value in named]))


def all_types():
    numbers = [("float", np.float32), ("double", np.float64), ("int32", np.int32), ("uint8", np.uint8), ("int16", np.int16), ("int8", np.int8),
               ("int64", np.int64), ("uint16", np.uint16), ("uint32", np.uint32), ("uint64", np.uint64), ("half", np.float16),
               ("bfloat16", tf.bfloat16.as_numpy_dtype)]
    named = [(name, np.array([[1, 2, 3], [4, 5, 6]]).astype(dtype)) for name, dtype in numbers]
    named += [("complex64", np.array([1 + 2j, 3 - 4j], np.complex64)), ("complex128", np.array([1 + 2j, 3 - 4j])),
              ("bool", np.array([True, False, True])), ("string", np.array([b"ab", b"", b"x" * 300, b"\0\xff"], object)),
              ("scalar", np.float32(0.5)), ("empty", np.zeros([0, 3], np.float32)), ("empty_string", np.zeros([0], object).astype("S"))]
    save(OUT + "/all_types", named)


def sharded():
    rows = np.arange(20, dtype=np.float32).reshape(10, 2)
    save(OUT + "/parts_a/p", [("a", rows[:2]), ("emb", rows[:4])], ["", "10 2 0,4:0,2"])
    save(OUT + "/parts_b/p", [("emb", rows[4:]), ("b", np.int64(7))], ["10 2 4,6:0,2", ""])
    run(lambda: tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[OUT + "/parts_a/p", OUT + "/parts_b/p"], destination_prefix=OUT + "/sharded"))


def v1():
    rows = np.arange(20, dtype=np.float32).reshape(10, 2)
    run(lambda: tf.raw_ops.Save(filename=OUT + "/v1", tensor_names=["w", "n", "s", "h", "c", "flag"],
                                data=[tf.constant(rows), tf.constant(np.int64(5)), tf.constant([b"ab", b""]), tf.constant(np.float16([1, 2])),
                                      tf.constant(np.complex64([1 + 2j])), tf.constant([True, False])]))
    for shard, (begin, end) in enumerate([(0, 4), (4, 10)]):
        run(lambda: tf.raw_ops.SaveSlices(filename=f"{OUT}/v1_sharded-{shard:05d}-of-00002", tensor_names=["emb"],
                                          shapes_and_slices=[f"10 2 {begin},{end - begin}:0,2"], data=[tf.constant(rows[begin:end])]))


shutil.rmtree(OUT, ignore_errors=True)
os.makedirs(OUT)
all_types()
sharded()
v1()
