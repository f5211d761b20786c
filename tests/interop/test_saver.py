"""TensorFlow's Saver and summary writer on a cluster of ours."""

import glob
import os
import tempfile
import unittest

import numpy as np
import tensorflow.compat.v1 as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from processes import Cluster

tf.disable_eager_execution()
tf.disable_resource_variables()
EMBEDDING = np.arange(20, dtype=np.float32).reshape(10, 2)


def rows_of_embedding(shape, dtype, partition_info=None):
    first = partition_info.var_offset[0] if partition_info else 0
    return tf.constant(EMBEDDING[first:first + shape[0]], dtype)


def build(partitions):
    """Variables of both kinds over two ps tasks, one of them in parts. Returns what all of them shall hold."""
    with tf.device("/job:ps/task:0"):
        tf.get_variable("w", initializer=np.float32([1, 2, 3]))
        tf.get_variable("step", initializer=np.int64(7), use_resource=True)
    with tf.device("/job:ps/task:1"):
        tf.get_variable("name", initializer=tf.constant([b"ab", b""]), use_resource=False)
    with tf.device(tf.train.replica_device_setter(2)), tf.variable_scope("", partitioner=tf.fixed_size_partitioner(partitions)):
        return tf.get_variable("emb", [10, 2], initializer=rows_of_embedding, use_resource=False)


def values(session, emb):
    return [v.tolist() for v in session.run(["w:0", "step/Read/ReadVariableOp:0", "name:0", tf.convert_to_tensor(emb)])]


class Saver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cluster = Cluster(cls.folder.name, ps=2, workers=1).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()
        cls.folder.cleanup()

    def session(self):
        """On servers that have forgotten the variables of the session before."""
        tf.Session.reset(self.cluster.target())
        return tf.Session(self.cluster.target())

    def prefix(self, name):
        folder = os.path.join(self.folder.name, name)
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, "model")

    def save(self, name, partitions=3, **options):
        with tf.Graph().as_default():
            build(partitions)
            saver = tf.train.Saver(**options)
            with self.session() as session:
                session.run(tf.global_variables_initializer())
                return saver.save(session, self.prefix(name))

    def restore(self, path, partitions=3, **options):
        with tf.Graph().as_default():
            emb = build(partitions)
            saver = tf.train.Saver(**options)
            with self.session() as session:
                for variable in tf.global_variables():
                    session.run(variable.initializer)
                session.run([tf.assign(v, tf.zeros_like(v)) for v in tf.global_variables() if v.dtype.base_dtype != tf.string])
                saver.restore(session, path)
                return values(session, emb)

    WHOLE = [[1, 2, 3], 7, [b"ab", b""], EMBEDDING.tolist()]

    def test_what_is_saved_is_restored(self):
        self.assertEqual(self.restore(self.save("plain")), self.WHOLE)

    def test_a_sharded_save_has_a_file_per_task(self):
        path = self.save("sharded", sharded=True)
        self.assertEqual(len(glob.glob(path + ".data-0000?-of-00002")), 2)
        self.assertEqual(os.listdir(os.path.dirname(path)).count("model_temp"), 0)
        self.assertEqual(self.restore(path, sharded=True), self.WHOLE)
        self.assertEqual(self.restore(path), self.WHOLE)

    def test_parts_may_be_cut_anew(self):
        self.assertEqual(self.restore(self.save("parts", partitions=2), partitions=5), self.WHOLE)

    def test_the_old_format(self):
        path = self.save("old", write_version=tf.train.SaverDef.V1)
        self.assertTrue(os.path.exists(path))
        self.assertEqual(self.restore(path), self.WHOLE)
        path = self.save("old_sharded", write_version=tf.train.SaverDef.V1, sharded=True)
        self.assertEqual(self.restore(path, write_version=tf.train.SaverDef.V1, sharded=True), self.WHOLE)

    def test_tensorflow_reads_our_files(self):
        reader = tf.train.load_checkpoint(self.save("ours"))
        self.assertEqual(reader.get_variable_to_shape_map(), {"w": [3], "step": [], "name": [2], "emb": [10, 2]})
        np.testing.assert_array_equal(reader.get_tensor("emb"), EMBEDDING)

    def test_missing_names_and_other_shapes_are_told(self):
        path = self.save("small")
        with tf.Graph().as_default(), self.session() as session:
            with tf.device("/job:ps/task:0"):
                tf.get_variable("absent", shape=[2])
            with self.assertRaisesRegex(tf.errors.NotFoundError, "Key absent not found in checkpoint"):
                tf.train.Saver().restore(session, path)
        with tf.Graph().as_default(), self.session() as session:
            with tf.device("/job:ps/task:0"):
                tf.get_variable("w", shape=[4])
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"\[4\].*\[3\]"):
                tf.train.Saver().restore(session, path)
        with tf.Graph().as_default(), self.session() as session:
            tf.get_variable("w", shape=[3])
            with self.assertRaisesRegex(ValueError, "not a valid checkpoint"):
                tf.train.Saver().restore(session, path + "-5")


class Summaries(unittest.TestCase):
    def test_tensorboard_reads_them(self):
        with tempfile.TemporaryDirectory() as folder, Cluster(folder, ps=1, workers=1) as cluster, tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None], "x")
            tf.summary.scalar("average", tf.reduce_mean(x))
            tf.summary.histogram("spread", x)
            tf.summary.image("picture", tf.reshape(x, [1, 2, 2, 1]))
            tf.summary.audio("sound", tf.reshape(x / 10, [1, 4]), 8000)
            tf.summary.text("words", tf.constant("hello"))
            merged = tf.summary.merge_all()
            with tf.Session(cluster.target()) as session, tf.summary.FileWriter(folder + "/log", session.graph) as writer:
                for step in range(3):
                    writer.add_summary(session.run(merged, {x: [0, 1, 2, step]}), step)
            events = EventAccumulator(folder + "/log", size_guidance={"scalars": 0, "histograms": 0}).Reload()
            self.assertEqual([e.value for e in events.Scalars("average")], [0.75, 1.0, 1.25])
            self.assertEqual([e.histogram_value.num for e in events.Histograms("spread")], [4, 4, 4])
            self.assertEqual(events.Images("picture/image/0")[-1].width, 2)
            self.assertEqual(events.Audio("sound/audio/0")[-1].sample_rate, 8000)
            self.assertEqual(events.Tensors("words")[-1].tensor_proto.string_val, [b"hello"])


if __name__ == "__main__":
    unittest.main()
