"""Starting a model server for tests, and talking to it."""

import contextlib
import http.client
import json
import os
import resource
import signal
import subprocess
import sys
import time

from tidemark.cli.serve import program

import tidemark as tf


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """A server process over a folder of models; ``tls``: the SSLContext clients use, ``files``: how
    many it may open."""

    def __init__(self, folder, *options, tls=None, files=None):
        self._tls = tls

        def limit():
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        self._process = subprocess.Popen(
            [sys.executable, "-m", "tidemark", "serve", "--models", str(folder), "--port", "0",
             "--poll", "0.1", *options],
            stderr=subprocess.PIPE, text=True, preexec_fn=limit,
        )  # fmt: skip
        self.log = []
        while True:
            line = self._process.stderr.readline()
            self.log.append(line)
            if " ready on " in line:
                break
            assert line, "".join(self.log)
        self.port = int(line.rpartition(":")[2])
        os.set_blocking(self._process.stderr.fileno(), False)
        self.pid = self._process.pid
        self._connection = None

    def connect(self, timeout=30):
        if self._tls is not None:
            return http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=timeout, context=self._tls
            )
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=(), connection=None):
        """One request over a connection that is kept."""
        if connection is None:
            if self._connection is None:
                self._connection = self.connect()
            connection = self._connection
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())

    def get(self, path, **kwargs):
        return self.ask("GET", path, **kwargs)

    def post(self, path, body=None, **kwargs):
        return self.ask("POST", path, body, **kwargs)

    def predict(self, model, body, **kwargs):
        return self.post(f"/v1/models/{model}:predict", body, **kwargs)

    def resident_bytes(self):
        with open(f"/proc/{self.pid}/smaps_rollup") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Rss:")) * 1024

    def metric(self, start, headers=()):
        """The sum of the metrics whose lines begin so."""
        lines = self.get("/metrics", headers=headers).body.decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(start))

    def wait_for(self, condition, seconds=20):
        end = time.time() + seconds
        while not condition():
            assert time.time() < end, "".join(self.read_log())
            time.sleep(0.02)

    def read_log(self):
        with contextlib.suppress(TypeError):  # nothing to read now
            self.log.extend(self._process.stderr.readlines())
        return self.log

    def send_signal(self, number):
        self._process.send_signal(number)

    def wait(self, seconds=30):
        return self._process.wait(seconds)

    def stop(self):
        if self._connection is not None:
            self._connection.close()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                assert self._process.wait(40) == 0
            finally:
                self._process.kill()
        self._process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()


def is_built():
    return program() is not None


# --- models --------------------------------------------------------------------------------------


def save(folder, function, *specs, version=1):
    f = tf.function(function, input_signature=specs)
    tf.saved_model.save(tf.Module(), str(folder / str(version)), signatures=f)


def save_linear(folder, scale=2.0, version=1):
    """y = x @ w, w all ``scale``, over rows of three."""
    module = tf.Module()
    module.w = tf.Variable(tf.fill([3, 2], scale))
    f = tf.function(
        lambda x: tf.matmul(x, module.w),
        input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")],
    )
    tf.saved_model.save(module, str(folder / str(version)), signatures=f)


def save_many(folder):
    """Two inputs, texts among them, and two outputs."""

    def run(number, text):
        return {"twice": number * 2, "upper_bytes": tf.strings.upper(text)}

    f = tf.function(run, input_signature=[
        tf.TensorSpec([None], tf.int64, name="number"), tf.TensorSpec([None], tf.string, "text"),
    ])  # fmt: skip
    tf.saved_model.save(tf.Module(), str(folder / "3"), signatures=f)


def save_slow(folder):
    """Counts up to x: as slow as one likes."""

    def run(x):
        count = tf.reduce_max(x)
        i = tf.constant(0, tf.int64)
        while i < count:
            i += 1
        return x + i - count

    f = tf.function(run, input_signature=[tf.TensorSpec([None], tf.int64, name="x")])
    tf.saved_model.save(tf.Module(), str(folder / "1"), signatures=f)
