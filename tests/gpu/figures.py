"""How long a GPU takes for what torch and JAX are measured with, too: one line a case.

    PYTHONPATH=build-gpu/python python tests/gpu/figures.py [--work] [CASE …]

Times are the best of three series; `first` is the first call, tracing and compiling included. The
memory is what the GPU holds for us at the peak of the case. `--work` tells of each series what the
GPU's time went into, by its own clock, a line for each op and place in the source.
"""

import argparse
import tempfile
import time
from pathlib import Path

import tidemark as tf
from tidemark import _tidemark

GPU = "gpu:0"
TELLS_WORK = False
VOCABULARY, LENGTH, BATCH, WIDTH, HEADS, LAYERS = 50304, 1024, 8, 768, 12, 12


def tell_work(work, times=3, most=40):
    """What the GPU did in `times` calls: microseconds a call, how often, what, for which line."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "recording")
        _tidemark.recording_start(path)
        for _ in range(times):
            work()
        _tidemark.wait_for_devices()
        _tidemark.recording_stop()
        rows = _tidemark.analyse_recording(path)["work"]
    rows = sorted(rows, key=lambda row: -row[4])
    whole = sum(row[4] for row in rows) / times / 1e3
    print(f"    {whole:.0f} us of the GPU a call, steps one by one", flush=True)
    for _, op, place, count, took in rows[:most]:
        print(f"    {took / times / 1e3:9.1f} us  {count / times:6.1f} x {op}  {place}", flush=True)


def measured(name, work, times=10):
    tf.memory.reset_peak(GPU)
    began = time.perf_counter()
    work()
    _tidemark.wait_for_devices()
    first = time.perf_counter() - began
    for _ in range(4):
        work()
    best = float("inf")
    for _ in range(3):
        _tidemark.wait_for_devices()
        began = time.perf_counter()
        for _ in range(times):
            work()
        handed = time.perf_counter() - began
        _tidemark.wait_for_devices()
        best = min(best, (time.perf_counter() - began) / times)
    peak = tf.memory.stats(GPU).peak / 2**20
    print(
        f"{name}: {best * 1e3:.4f} ms (the host {handed / times * 1e3:.4f} ms), "
        f"first {first * 1e3:.0f} ms, peak {peak:.0f} MiB",
        flush=True,
    )
    if TELLS_WORK:
        tell_work(work)


def chain(x):
    y = tf.square(x)
    z = y * 2.0
    w = z + 1.0
    return tf.tanh(w) * tf.exp(-w)


def elementwise():
    x = tf.random.normal((16384, 16384))
    measured("chain8 268M f32 eager", lambda: chain(x))
    whole = tf.function(chain)
    measured("chain8 268M f32 function", lambda: whole(x))


def dispatch():
    a = tf.random.normal((2,))
    measured("eager add tiny", lambda: a + a, 2000)
    one = tf.function(lambda x: x + 1.0)
    measured("function add tiny", lambda: one(a), 2000)

    def chain_of_products(x):
        for _ in range(20):
            x = tf.matmul(x, x) * 0.01
        return x

    m = tf.random.normal((32, 32))
    many = tf.function(chain_of_products)
    measured("function of 20 products 32", lambda: many(m), 200)


def products():
    a = tf.cast(tf.random.normal((8192, 8192)), "bfloat16")
    measured("matmul bf16 8192", lambda: tf.matmul(a, a))
    b = tf.random.normal((8192, 8192))
    measured("matmul f32 8192", lambda: tf.matmul(b, b))


def convolution():
    x, w = tf.random.normal((64, 56, 56, 64)), tf.random.normal((3, 3, 64, 64))
    measured("conv3x3 64ch 56x56 N64 f32 fwd", lambda: tf.nn.conv2d(x, w, 1, "SAME"))


class Transformer:
    """GPT-2 small in bfloat16, its weights in float32."""

    def __init__(self):
        self.variables = []
        self.words = self._normal(VOCABULARY, WIDTH)
        self.places = self._normal(LENGTH, WIDTH)
        self.blocks = [
            {
                "norm": self._norm(), "qkv": self._dense(WIDTH, 3 * WIDTH),
                "out": self._dense(WIDTH, WIDTH), "norm2": self._norm(),
                "up": self._dense(WIDTH, 4 * WIDTH), "down": self._dense(4 * WIDTH, WIDTH),
            }
            for _ in range(LAYERS)
        ]  # fmt: skip
        self.norm = self._norm()
        self.head = self._normal(WIDTH, VOCABULARY)

    def _keep(self, value):
        self.variables.append(tf.Variable(value))
        return self.variables[-1]

    def _normal(self, *shape):
        return self._keep(tf.random.normal(shape) * 0.02)

    def _norm(self):
        return self._keep(tf.ones((WIDTH,))), self._keep(tf.zeros((WIDTH,)))

    def _dense(self, rows, columns):
        return self._normal(rows, columns), self._keep(tf.zeros((columns,)))

    @staticmethod
    def normed(h, weights):
        wide = tf.cast(h, "float32")
        mean, variance = tf.nn.moments(wide, -1, keepdims=True)
        return tf.nn.batch_normalization(wide, mean, variance, weights[1], weights[0], 1e-5)

    @staticmethod
    def dense(h, weights):
        w, b = (tf.cast(one, "bfloat16") for one in weights)
        return tf.matmul(tf.cast(h, "bfloat16"), w) + b

    def logits(self, x):
        h = tf.gather(self.words, x) + self.places
        for block in self.blocks:
            qkv = self.dense(self.normed(h, block["norm"]), block["qkv"])
            qkv = tf.reshape(qkv, (BATCH, LENGTH, 3, HEADS, WIDTH // HEADS))
            q, k, v = tf.unstack(tf.transpose(qkv, (2, 0, 3, 1, 4)))
            scale = (WIDTH // HEADS) ** -0.5
            scores = [q, k, v, tf.constant(True)]
            seen = _tidemark.call("attention", scores, {"scale": scale, "causal": True})[0]
            seen = tf.reshape(tf.transpose(seen, (0, 2, 1, 3)), (BATCH, LENGTH, WIDTH))
            h = h + tf.cast(self.dense(seen, block["out"]), "float32")
            up = tf.nn.gelu(self.dense(self.normed(h, block["norm2"]), block["up"]), True)
            h = h + tf.cast(self.dense(up, block["down"]), "float32")
        last = tf.cast(self.normed(h, self.norm), "bfloat16")
        return tf.matmul(last, tf.cast(self.head, "bfloat16"))


def transformer():
    model = Transformer()
    zeros = [tf.Variable(tf.zeros_like(v)) for v in model.variables for _ in range(2)]
    ends = (BATCH, LENGTH)
    x, y = (tf.random.uniform(ends, 0, VOCABULARY, dtype="int32") for _ in range(2))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.cast(model.logits(x), "float32")
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            loss = tf.reduce_mean(losses)
        for i, (v, g) in enumerate(
            zip(model.variables, tape.gradient(loss, model.variables), strict=True)
        ):
            m, s = zeros[2 * i], zeros[2 * i + 1]
            g = tf.convert_to_tensor(g)
            m.assign(m * 0.9 + g * 0.1)
            s.assign(s * 0.999 + tf.square(g) * 0.001)
            v.assign_sub(1e-4 * m / (tf.sqrt(s) + 1e-8))
        return loss

    measured(f"gpt2-small B{BATCH} T{LENGTH} bf16 train", lambda: step(x, y), 5)


CASES = [dispatch, elementwise, products, convolution, transformer]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", action="store_true", help="what the GPU's time went into")
    parser.add_argument("cases", nargs="*", help="these alone")
    args = parser.parse_args()
    globals()["TELLS_WORK"] = args.work
    wanted = args.cases
    with tf.device("/GPU:0"):
        for case in CASES:
            if not wanted or case.__name__ in wanted:
                try:
                    case()
                except Exception as error:  # whatever it is, the next ones are measured
                    print(f"{case.__name__}: {type(error).__name__}: {error}", flush=True)
                _tidemark.release_device(GPU)


if __name__ == "__main__":
    main()
