"""The end of programs whose threads still compute, that fork, whose callbacks fail, that hold
one of each: no abort, no hang."""

import subprocess
import sys
import textwrap
from pathlib import Path

import process_ends
import pytest

from tidemark import _tidemark


@pytest.mark.parametrize("name", process_ends.PROGRAMS)
def test_it_ends_as_it_should(tmp_path, name):
    for _ in range(3 if "daemon" in name else 1):
        fault = process_ends.fault_of(sys.executable, name, tmp_path)
        assert not fault, fault


def test_a_daemon_thread_trains_to_the_end():
    """In the steps of one long ``fit``: at its start Keras calls optree, which aborts by itself
    where the interpreter ends in it, with TensorFlow as well."""
    code = process_ends.START + textwrap.dedent("""
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


def test_nothing_of_the_library_is_destroyed_while_threads_compute():
    """Objects with destructors would register them by this function: threads may still be using
    them then, and end with signal 11."""
    files = sorted(Path(_tidemark.__file__).parent.glob("libtidemark*.so"))
    assert any(file.name == "libtidemark.so" for file in files)
    for file in files:
        listed = subprocess.run(
            ["nm", "--dynamic", "--undefined-only", file],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "__cxa_atexit" not in listed.stdout, file
