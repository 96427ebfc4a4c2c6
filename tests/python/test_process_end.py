"""The end of a program whose threads still compute: no abort, no hang."""

import subprocess
import sys
import textwrap

import pytest

START = """
import threading, time
import numpy as np
import tidemark as tf

def leave_running(work):
    started = threading.Event()
    def loop():
        work()
        started.set()
        while True:
            work()
    threading.Thread(target=loop, daemon=True).start()
    started.wait()
    time.sleep(0.05)
"""

PROGRAMS = {
    "ops": """
        x = tf.ones([400, 400])
        def work():
            global x
            x = x + 1
        leave_running(work)
    """,
    "several threads": """
        def work():
            a = tf.random.normal([300, 300])
            tf.matmul(a, a)
        for _ in range(4):
            leave_running(work)
    """,
    "functions": """
        @tf.function
        def step(x):
            for _ in tf.range(100):
                x = x + 1.0
            return x
        leave_running(lambda: step(tf.ones([200, 200])))
    """,
    "variables": """
        v = tf.Variable(tf.ones([300, 300]))
        leave_running(lambda: v.assign_add(tf.ones([300, 300])))
    """,
    "gradients": """
        w = tf.Variable(tf.ones([200, 200]))
        def work():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.matmul(w, w))
            w.assign_sub(1e-9 * tape.gradient(loss, w))
        leave_running(work)
    """,
    "Python inside": """
        @tf.function
        def step(x):
            return tf.py_function(lambda t: t + 1, [x], tf.float32)
        leave_running(lambda: step(tf.ones([300, 300])))
    """,
    "datasets": """
        def give():
            while True:
                yield np.ones(1000, np.float32)
        data = tf.data.Dataset.from_generator(give, output_signature=tf.TensorSpec([1000]))
        data = iter(data.map(lambda t: t * 2, num_parallel_calls=2).prefetch(4))
        leave_running(lambda: next(data))
    """,
    "sessions": """
        v1 = tf.compat.v1
        with v1.Graph().as_default():
            a = v1.placeholder(tf.float32, [300, 300])
            b = v1.matmul(a, a)
            session = v1.Session()
        given = np.ones((300, 300), np.float32)
        leave_running(lambda: session.run(b, {a: given}))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_daemon_threads_compute_to_the_end(tmp_path, name):
    program = tmp_path / "program.py"
    program.write_text(START + textwrap.dedent(PROGRAMS[name]))
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, program], capture_output=True, text=True, timeout=240
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_a_daemon_thread_trains_to_the_end():
    """In the steps of one long ``fit``: at its start Keras calls optree, which aborts by itself
    where the interpreter ends in it, with TensorFlow as well."""
    code = START + textwrap.dedent("""
        tf.install_as_tensorflow()
        import keras
        model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64)])
        model.compile("adam", "mse")
        given = tf.ones([32, 64])
        data = tf.data.Dataset.from_tensors((given, given)).repeat()
        trains = threading.Event()
        started = lambda batch, logs: trains.set()
        callback = keras.callbacks.LambdaCallback(on_train_batch_end=started)
        threading.Thread(
            target=lambda: model.fit(data, steps_per_epoch=10**9, verbose=0, callbacks=[callback]),
            daemon=True,
        ).start()
        trains.wait()
        time.sleep(0.05)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
