"""The classic between-graph script: every worker runs it, worker 0 is the chief. Only --master is of today: the servers run elsewhere.

y = 2 x + 10 is learned from 100 points.
"""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument("--master", required=True)
parser.add_argument("--task_index", type=int, default=0)
parser.add_argument("--ps_tasks", type=int, default=1)
parser.add_argument("--logdir", required=True)
parser.add_argument("--steps", type=int, default=400)
flags = parser.parse_args()
is_chief = flags.task_index == 0

with tf.device(tf.train.replica_device_setter(ps_tasks=flags.ps_tasks, worker_device="/job:worker/task:%d" % flags.task_index)):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.placeholder(tf.float32, name="y")
    w = tf.get_variable("weight", [1], tf.float32, initializer=tf.random_normal_initializer(), use_resource=False)
    b = tf.get_variable("bias", [1], tf.float32, initializer=tf.random_normal_initializer(), use_resource=False)
    global_step = tf.train.get_or_create_global_step()
    z = tf.multiply(x, w) + b
    loss = tf.reduce_mean(tf.square(y - z))
    tf.summary.histogram("z", z)
    tf.summary.scalar("loss_function", loss)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
    saver = tf.train.Saver(max_to_keep=1)
    summary_op = tf.summary.merge_all()
    init_op = tf.global_variables_initializer()

supervisor = tf.train.Supervisor(is_chief=is_chief, logdir=flags.logdir, init_op=init_op, summary_op=None, saver=saver, global_step=global_step, save_model_secs=2,
                                 recovery_wait_secs=1)
xs = np.linspace(-1, 1, 100).astype(np.float32)
feeds = {x: xs, y: 2 * xs + 10}
with supervisor.managed_session(flags.master) as session:
    print("step at start %d" % session.run(global_step), flush=True)
    step = 0
    while not supervisor.should_stop() and step < flags.steps:
        _, step, loss_now = session.run([train_op, global_step, loss], feeds)
        if is_chief and step % 50 < 2:
            summary = session.run(summary_op, feeds)
            supervisor.summary_computed(session, summary, global_step=step)
            print("step %d loss %.6f" % (step, loss_now), flush=True)
    print("w %.4f b %.4f" % tuple(float(v[0]) for v in session.run([w, b])), flush=True)
    if is_chief:
        saver.save(session, supervisor.save_path, global_step=global_step)
supervisor.stop()
