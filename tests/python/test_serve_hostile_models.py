"""Hostile models, and the kernel's sandbox around them."""

import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import serving
import test_onnx
import test_saved_model_tensorflow

import tidemark as tf

pytestmark = [
    pytest.mark.unwatched,
    pytest.mark.skipif(not serving.is_built(), reason="the server is not built"),
]

ROW = {"instances": [[1.0, 2.0, 3.0]]}


@pytest.fixture
def linear(tmp_path):
    serving.save_linear(tmp_path / "linear")
    return tmp_path


def save_endless(folder):
    """Never ends on zeros, which models are warmed up with."""

    def run(x):
        while tf.reduce_max(x) < 1:
            x = x * 1
        return x

    serving.save(folder, run, tf.TensorSpec([None], tf.float32, "x"))


def test_models_that_never_finish_loading_hold_up_nobody(linear):
    save_endless(linear / "endless")
    (linear / "fifo" / "1").mkdir(parents=True)
    for name in os.listdir(linear / "linear" / "1"):
        os.mkfifo(linear / "fifo" / "1" / name)
    serving.save_linear(linear / "linked")
    (linear / "linked" / "1" / "warmup.jsonl").symlink_to("/dev/zero")
    with serving.Server(linear, "--load-timeout", "2") as server:
        assert server.predict("linear", ROW).status == 200
        for name, why in [
            ("endless", "--load-timeout"), ("fifo", "file"), ("linked", "plain file"),
        ]:  # fmt: skip
            status = server.get(f"/v1/models/{name}").json["model_version_status"][0]
            assert status["state"] == "END" and why in status["status"]["error_message"]
        serving.save_linear(linear / "linear", scale=3.0, version=2)
        answer = {"predictions": [[18.0, 18.0]]}
        server.wait_for(lambda: server.predict("linear", ROW).json == answer)


def test_more_models_that_never_finish_than_threads_that_load(tmp_path):
    for name in "abcdef":
        save_endless(tmp_path / name)
    serving.save_linear(tmp_path / "linear")
    command = [serving.program(), "--models", str(tmp_path), "--port", "0", "--drain-timeout", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        began = time.monotonic()
        assert "loaded linear" in process.stderr.readline()
        assert time.monotonic() - began < 20  # --load-timeout: 300
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.stderr.close()


def test_a_server_that_is_still_loading_ends_when_told(linear):
    save_endless(linear / "endless")
    command = [serving.program(), "--models", str(linear), "--port", "0", "--drain-timeout", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert "loaded linear" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.stderr.close()


def save_external(folder, size):
    """An ONNX model that adds ones, in a file of their own."""
    version = folder / "1"
    version.mkdir(parents=True)
    np.ones(size, np.float32).tofile(version / "weights.bin")
    weight = test_onnx.tensor("w", np.ones(size, np.float32), {"location": "weights.bin"})
    one = [test_onnx.value_info(name, [size]) for name in "xy"]
    add = test_onnx.node("Add", ["x", "w"], ["y"])
    (version / "model.onnx").write_bytes(test_onnx.model_bytes([add], one[:1], one[1:], [weight]))
    return version


def test_weights_that_are_cut_short_while_they_are_served_end_nobody(linear):
    """Pages of a mapped file that are no longer there would end the process."""
    size = 50_000
    version = save_external(linear / "onnx", size)
    with serving.Server(linear) as server:
        body = {"inputs": [1.0] * size}
        assert server.predict("onnx", body).json["outputs"] == [2.0] * size
        os.truncate(version / "weights.bin", 0)
        assert server.predict("onnx", body).json["outputs"] == [2.0] * size
        assert server.predict("linear", ROW).status == 200


def test_a_fifo_as_weights_is_told(linear):
    version = save_external(linear / "onnx", 4)
    (version / "weights.bin").unlink()
    os.mkfifo(version / "weights.bin")
    with serving.Server(linear, "--load-timeout", "2") as server:
        status = server.get("/v1/models/onnx").json["model_version_status"][0]
        assert status["state"] == "END" and "plain file" in status["status"]["error_message"]
        assert server.predict("linear", ROW).status == 200


def test_files_of_a_model_are_its_own(tmp_path):
    """A link among them may lead anywhere, and what it leads to may be asked for."""
    models = tmp_path / "models"
    version = models / "text" / "1"
    shutil.move(test_saved_model_tensorflow.unpacked("text", tmp_path), version)
    secret = tmp_path / "secret"
    asset = sorted((version / "assets").iterdir())[0]
    asset.rename(secret)
    asset.symlink_to(secret)
    with serving.Server(models) as server:
        status = server.get("/v1/models/text").json["model_version_status"][0]
        assert status["state"] == "END" and "symbolic link" in status["status"]["error_message"]
    with serving.Server(models, "--allow-files") as server:
        status = server.get("/v1/models/text").json["model_version_status"][0]
        assert status["state"] == "AVAILABLE"
        asset.unlink()
        with open(asset, "wb") as file:  # takes nothing on disk
            file.truncate(1 << 40)
        os.utime(version / "saved_model.pb")
    with serving.Server(models, "--memory-limit", "64MiB") as server:
        status = server.get("/v1/models/text").json["model_version_status"][0]
        assert status["state"] == "END" and "OOM" in status["status"]["error_message"]


def test_what_failed_for_want_of_room_is_loaded_when_there_is_room(tmp_path):
    def add(x):
        return x + np.arange(1000, dtype=np.float32)

    for name in ("one", "two"):
        serving.save(tmp_path / name, add, tf.TensorSpec([1000], tf.float32, "x"))
    with serving.Server(tmp_path, "--max-weights", "6000") as server:
        states = {name: server.get(f"/v1/models/{name}").status for name in ("one", "two")}
        assert set(states.values()) == {200}
        body = {"inputs": [1.0] * 1000}
        served = {n for n in states if server.predict(n, body).status == 200}
        assert len(served) == 1
        (left,) = states.keys() - served
        shutil.rmtree(tmp_path / served.pop())
        server.wait_for(lambda: server.predict(left, body).status == 200)


def test_models_do_not_read_files_unless_allowed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    models = tmp_path / "models"
    serving.save(models / "reader", tf.io.read_file, tf.TensorSpec([], tf.string, "name"))

    def inside(name):
        return tf.cond(tf.strings.length(name) > 0, lambda: tf.io.read_file(name), lambda: name)

    serving.save(models / "hidden", inside, tf.TensorSpec([], tf.string, "name"))
    serving.save_linear(models / "linear")
    with serving.Server(models) as server:
        for name in ("reader", "hidden"):
            for path in (secret, "/no/such/file"):  # nor is it told what there is
                answer = server.predict(name, {"inputs": str(path)})
                assert answer.status == 403 and "may not read files" in answer.json["error"]
        assert server.predict("linear", ROW).status == 200
    with serving.Server(models, "--allow-files") as server:
        answer = server.predict("reader", {"inputs": str(secret)})
        assert answer.json == {"outputs": "of the host"}


# --- the kernel ----------------------------------------------------------------------------------


def sandboxed(folder):
    try:
        return serving.Server(folder, "--sandbox")
    except AssertionError as error:
        if "this system has no" in str(error):
            pytest.skip(str(error))
        raise


def test_a_server_in_a_sandbox_answers_and_loads(linear):
    with sandboxed(linear) as server:
        assert server.predict("linear", ROW).status == 200
        threads = list(os.scandir(f"/proc/{server.pid}/task"))
        assert len(threads) > 4
        for thread in threads:
            with open(f"{thread.path}/status") as lines:
                status = dict(line.split(":", 1) for line in lines)
            assert status["Seccomp"].strip() == "2"  # a filter
            assert status["NoNewPrivs"].strip() == "1"
        serving.save_linear(linear / "linear", scale=3.0, version=2)
        server.wait_for(lambda: server.predict("linear", ROW).json["predictions"] == [[18.0, 18.0]])
        assert server.get("/metrics").status == 200


def test_a_sandbox_does_not_go_with_files(tmp_path):
    done = subprocess.run(
        [serving.program(), "--models", tmp_path, "--sandbox", "--allow-files"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2 and "--allow-files do not go together" in done.stderr
