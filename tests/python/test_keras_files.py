"""Files of Keras's models: whole or not at all, whatever happens meanwhile."""

import errno
import gc
import importlib.util
import os
import resource
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

NAMES = ["model.keras", "model.weights.h5", "model.h5", "model.weights.json"]


def made(value):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((20,)), layers.Dense(64), layers.Dense(64)])
    model.set_weights([np.full(w.shape, value, np.float32) for w in model.get_weights()])
    return model


def save(model, path):
    if path.endswith(".json"):
        model.save_weights(path, max_shard_size=2e-5)
    elif ".weights." in path:
        model.save_weights(path)
    else:
        model.save(path)


def value_in(path):
    if ".weights." in path:
        model = made(-1)
        model.load_weights(path)
    else:
        model = tf.keras.models.load_model(path)
    (value,) = set(np.concatenate([w.ravel() for w in model.get_weights()]))
    return value


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", [KeyboardInterrupt, OSError])
def test_a_save_that_breaks_off_leaves_what_was_there(tmp_path, monkeypatch, name, what):
    path = str(tmp_path / name)
    save(made(1), path)
    before = contents(tmp_path)
    calls = []

    def breaks_off(self, *args, **kwargs):
        calls.append(self)
        if len(calls) > 1:
            raise what("stopped")
        return original(self, *args, **kwargs)

    from keras.src.legacy.saving import legacy_h5_format

    original = tf.keras.layers.Dense.save_own_variables
    monkeypatch.setattr(tf.keras.layers.Dense, "save_own_variables", breaks_off)
    monkeypatch.setattr(legacy_h5_format, "save_subset_weights_to_hdf5_group",
                        lambda *_: breaks_off(None) if calls else calls.append(0))  # fmt: skip
    with pytest.raises(what, match="stopped"):
        save(made(2), path)
    assert contents(tmp_path) == before
    monkeypatch.undo()
    assert value_in(path) == 1
    save(made(3), path)
    assert value_in(path) == 3
    assert contents(tmp_path).keys() == before.keys()


def in_a_child(work):
    """Runs ``work()`` in a process of its own and gives its status."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_what_was_there(tmp_path, tmp_path_factory, name):
    path, other = str(tmp_path / name), str(tmp_path_factory.mktemp("other") / name)
    save(made(1), path)
    before, model = contents(tmp_path), made(2)

    def save_without_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, resource.RLIM_INFINITY))
        with pytest.raises(OSError) as raised:
            save(model, path)
        assert raised.value.errno == errno.EFBIG
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        save(model, other)

    assert in_a_child(save_without_room) == 0
    assert contents(tmp_path) == before
    assert value_in(path) == 1
    assert value_in(other) == 2, "the process goes on, and saves where there is room"


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_save_killed_at_any_moment_leaves_one_that_loads(tmp_path, name):
    path = str(tmp_path / name)
    save(made(0), path)
    models, rng = [made(value) for value in range(8)], np.random.default_rng(0)
    for _ in range(25):
        child = os.fork()
        if child == 0:
            try:
                while True:
                    for model in models:
                        save(model, path)
            finally:
                os._exit(1)
        time.sleep(rng.uniform(0, 0.08))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, "it was saving all the time"
        assert value_in(path) in range(8)
    save(made(9), path)
    assert [p.name for p in tmp_path.iterdir()] == [name], "what the killed ones left is gone"


def test_links_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real.keras", tmp_path / "link.keras"
    save(made(1), str(real))
    real.chmod(0o640)
    link.symlink_to(real)
    save(made(2), str(link))
    assert link.is_symlink()
    assert value_in(str(real)) == 2
    assert real.stat().st_mode & 0o777 == 0o640


def test_places_that_cannot_be_written_are_told_as_ever(tmp_path):
    with pytest.raises(FileNotFoundError):
        made(1).save(tmp_path / "nowhere" / "model.keras")
    with pytest.raises(ValueError, match="extension"):
        made(1).save(tmp_path / "model.other")
    (tmp_path / "folder.keras").mkdir()
    with pytest.raises(IsADirectoryError):
        made(1).save(tmp_path / "folder.keras")
    assert [p.name for p in tmp_path.iterdir()] == ["folder.keras"]


def damaged(whole, rng):
    data = bytearray(whole)
    if rng.random() < 0.3:
        return bytes(data[: rng.integers(0, len(data))])
    for place in rng.integers(0, len(data) if rng.random() < 0.3 else 6000, 8):
        data[place] ^= 1 << rng.integers(0, 8)
    return bytes(data)


def test_damaged_weights_are_loaded_whole_or_not_at_all(tmp_path):
    model, path = made(1), tmp_path / "model.weights.h5"
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones((8, 20)), np.ones((8, 64)), verbose=0)
    model.save_weights(path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(300):
        path.write_bytes(damaged(whole, rng))
        before = [v.numpy() for v in (*model.variables, *model.optimizer.variables)]
        try:
            model.load_weights(path)
        except (OSError, ValueError, KeyError) as error:
            refused += 1
            assert str(error)
            after = [v.numpy() for v in (*model.variables, *model.optimizer.variables)]
            for a, b in zip(before, after, strict=True):
                np.testing.assert_array_equal(a, b)
        path.write_bytes(whole)  # the same file, and damage that is gone is not remembered
        model.load_weights(path)
    assert refused > 100


def test_weights_of_another_model_change_nothing(tmp_path):
    path = str(tmp_path / "other.weights.h5")
    layers = tf.keras.layers
    other = tf.keras.Sequential([layers.Input((20,)), layers.Dense(64), layers.Dense(65)])
    other.save_weights(path)
    model = made(1)
    with pytest.raises(ValueError, match="shape"):
        model.load_weights(path)
    assert {v for w in model.get_weights() for v in w.ravel()} == {1}


def test_saving_and_loading_is_flat(tmp_path):
    model, path = made(1), tmp_path / "model.weights.h5"

    def rounds(count):
        for _ in range(count):
            model.save_weights(path)
            model.load_weights(path)

    rounds(3)
    gc.collect()
    live = tf.memory.stats().live
    rounds(20)
    gc.collect()
    assert tf.memory.stats().live == live
    assert len(os.listdir(tmp_path)) == 1
    assert Path(path).exists()
