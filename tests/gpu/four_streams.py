"""Four threads on one GPU, each on a logical device: a stream, memory and a limit of its own.

    PYTHONPATH=build-gpu/python python tests/gpu/four_streams.py --rounds 200 --limit 64

Exits with an error unless all results are right, every limit held, and who asked for more than its
limit went on behind the error. tests/gpu/checks.py and tests/python/test_gpu_without_one.py run it.
"""

import argparse
import threading

import numpy as np

import tidemark as tf
from tidemark import _tidemark

THREADS = 4


@tf.function
def step(x, shift):
    return tf.tanh(x) * 0.5 + shift


def rounds_of(x, shift, rounds):
    for _ in range(rounds):
        x = step(x, shift)
    return x


def work(number, args, told):
    try:
        limit = args.limit << 20
        elements = limit // 16 // 4  # a sixteenth of what the thread may have
        drawn = np.random.default_rng(number).uniform(-2, 2, elements).astype("float32")
        with tf.device("/CPU:0"):
            wanted = rounds_of(tf.constant(drawn), tf.constant(0.1 * number), args.rounds).numpy()
        with tf.device(f"/GPU:{number}"):
            x, shift = tf.constant(drawn) + 0.0, tf.constant(0.1 * number) + 0.0
            assert x.device.endswith(f"GPU:{number}"), x.device
            refused = 0
            for _ in range(5):
                np.testing.assert_allclose(
                    rounds_of(x, shift, args.rounds).numpy(), wanted, rtol=1e-5, atol=1e-6
                )
                try:
                    tf.zeros((limit // 4 + 1,)) + 1.0
                except tf.errors.ResourceExhaustedError:
                    refused += 1
            assert refused == 5, f"more than the limit was granted {5 - refused} times"
        peak = _tidemark.device_stats(f"gpu:{number}")["peak"]
        assert 0 < peak <= limit, f"gpu:{number} held {peak:,} bytes, {limit:,} are allowed"
    except BaseException as error:
        told.append(f"thread {number}: {error!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--limit", type=int, default=64, help="MiB of each device")
    args = parser.parse_args()
    (gpu, *_) = tf.config.list_physical_devices("GPU")
    part = tf.config.LogicalDeviceConfiguration(memory_limit=args.limit)
    tf.config.set_logical_device_configuration(gpu, [part] * THREADS)
    told = []
    threads = [threading.Thread(target=work, args=(i, args, told)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if told:
        raise SystemExit("\n".join(told))
    print(f"{THREADS} threads, {5 * args.rounds} steps each, all right")


if __name__ == "__main__":
    main()
