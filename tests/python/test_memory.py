"""tf.memory: counters that add up, limits that hold, errors that name who has the memory."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

pytestmark = pytest.mark.unwatched

MIB = 1 << 20
HERE = os.path.basename(__file__)


@pytest.fixture(autouse=True)
def limits_restored():
    gc.collect()
    old = tf.memory.get_limit()
    yield
    tf.memory.set_limit(old)


def live():
    return tf.memory.stats().live


# --- counters ------------------------------------------------------------------------------------


def test_stats_have_attributes_and_items():
    stats = tf.memory.stats()
    assert stats.live == stats["live"] and "live" in stats and dict(stats)["live"] == stats.live
    assert "live=" in repr(stats) and len(stats) == len(list(stats))
    with pytest.raises(AttributeError, match="memory statistics have no 'foo'; there are live"):
        _ = stats.foo


def test_parts_sum_to_the_resident_memory():
    x = tf.ones([MIB])
    s = tf.memory.stats()
    # Pages that nobody has written to yet belong to buffers, but not to the resident memory.
    assert s.live + s.planned + s.retained + s.not_ours == s.resident + s.untouched
    assert s.live >= 4 * MIB and s.live_buffers >= 1 and s.peak >= s.live
    assert s.tensor_bytes <= s.live
    del x


def test_bytes_are_released_with_the_last_reference():
    before = tf.memory.stats()
    x = tf.ones([MIB])
    during = tf.memory.stats()
    assert during.tensor_bytes - before.tensor_bytes == 4 * MIB
    assert during.live_buffers == before.live_buffers + 1
    y = tf.reshape(x, [1024, 1024])
    del x
    assert tf.memory.stats().tensor_bytes - before.tensor_bytes == 4 * MIB  # y keeps it
    del y
    after = tf.memory.stats()
    assert (after.live, after.live_buffers) == (before.live, before.live_buffers)


def test_peak():
    x = tf.ones([MIB])
    del x
    assert tf.memory.stats().peak >= live() + 4 * MIB
    tf.memory.reset_peak()
    assert tf.memory.stats().peak == live()


def test_retained_memory_is_given_back():
    x = tf.ones([4 * MIB])
    del x
    tf.memory.release()
    # Small buffers that live hold on to the pages around them.
    left = tf.memory.stats()
    assert left.retained < (64 << 10) + 16 * 1024 * left.live_buffers
    old = tf.memory.set_retained_limit("2MiB")
    try:
        for _ in range(3):
            tf.ones([MIB // 8])
        assert tf.memory.stats().retained <= 2 * MIB
        assert tf.memory.stats().retained_limit == 2 * MIB
    finally:
        assert tf.memory.set_retained_limit(old) == 2 * MIB


def test_live_buffers_name_line_op_shape_and_bytes():
    x = tf.ones([300, 1000])  # the line that is looked for
    found = [b for b in tf.memory.live() if tuple(b["shape"]) == (300, 1000)]
    assert len(found) == 1
    buffer = found[0]
    assert HERE in buffer["place"] and "test_live_buffers" in buffer["place"]
    assert buffer["op"] and buffer["bytes"] >= 1_200_000 and buffer["dtype"] == tf.float32
    assert any(HERE in p["place"] and p["live_bytes"] >= 1_200_000 for p in tf.memory.places())
    assert sum(h["live_bytes"] for h in tf.memory.holders()) >= 1_200_000
    assert HERE in tf.memory.report()
    del x, found
    assert not [b for b in tf.memory.live() if tuple(b["shape"]) == (300, 1000)]


def test_source_lines_can_be_switched_off():
    old = tf.memory.set_source_lines(False)
    try:
        x = tf.ones([301, 1000])
        found = [b for b in tf.memory.live() if tuple(b["shape"]) == (301, 1000)]
        assert HERE not in found[0]["place"]
        del x
    finally:
        assert tf.memory.set_source_lines(old) is False


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [("64MiB", 64 * MIB), ("1.5 GB", 1_500_000_000), ("512k", 512 << 10), ("100", 100), (7, 7),
     (np.int64(9), 9), (1e3, 1000), ("2 TiB", 2 << 40)],
)  # fmt: skip
def test_sizes(text, size):
    assert tf.memory.parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MiB", "12 parsecs", "-5MiB", "1e9", None, 1.5, [1]])
def test_what_is_no_size(text):
    with pytest.raises((ValueError, TypeError), match="size"):
        tf.memory.set_limit(text)


def test_setting_a_limit_returns_the_old_one():
    old = tf.memory.get_limit()
    assert tf.memory.set_limit("1GiB") == old
    assert tf.memory.get_limit() == 1 << 30 == tf.memory.set_limit(old)


def test_a_limit_below_what_is_in_use_is_refused():
    x = tf.ones([4 * MIB])
    old = tf.memory.get_limit()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.memory.set_limit(MIB)
    assert tf.memory.get_limit() == old
    del x


def test_over_the_limit():
    x = tf.ones([MIB])  # HOLDER: 4 MiB
    expected = x.numpy().copy()
    tf.memory.set_limit(live() + 8 * MIB)
    before = tf.memory.stats()
    smaller = None
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        tf.ones([64, MIB])
    text = caught.value.message
    assert caught.value.error_code == tf.errors.RESOURCE_EXHAUSTED
    assert "256" in text and HERE in text and "test_over_the_limit" in text
    source = Path(__file__).read_text().splitlines()
    line = next(n for n, code in enumerate(source, 1) if code.endswith("# HOLDER: 4 MiB"))
    assert f"{HERE}:{line}" in text
    try:
        tf.ones([64, MIB])
    except tf.errors.ResourceExhaustedError:
        smaller = tf.ones([MIB])
    assert smaller.numpy().sum() == MIB
    del smaller
    after = tf.memory.stats()
    assert (after.live, after.live_buffers) == (before.live, before.live_buffers)
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + x,
        lambda x: tf.concat([x, x], 0),
        lambda x: tf.reshape(tf.transpose(tf.reshape(x, [1024, 1024])), [-1]),
        lambda x: tf.tile(x, [3]),
        lambda x: tf.exp(x) * 2 + x,
        lambda x: tf.constant(np.ones(MIB, np.float32)),
        lambda x: tf.sort(x),
        lambda x: tf.cumsum(x),
        lambda x: tf.random.normal([MIB]),
    ],
)
def test_ops_over_the_limit_change_nothing(use):
    x = tf.ones([MIB])
    use(x)
    tf.memory.release()
    tf.memory.set_limit(live() + MIB)
    before = tf.memory.stats()
    for _ in range(3):
        with pytest.raises(tf.errors.ResourceExhaustedError):
            use(x)
    after = tf.memory.stats()
    assert (after.live, after.live_buffers) == (before.live, before.live_buffers)
    assert tf.reduce_sum(x).numpy() == MIB


def test_scopes():
    with tf.memory.limit("1MiB"):
        small = tf.ones([1000])
        with pytest.raises(tf.errors.ResourceExhaustedError):
            tf.ones([MIB])
        with tf.memory.limit("64KiB"), pytest.raises(tf.errors.ResourceExhaustedError):
            tf.ones([100_000])
        assert tf.ones([100_000]).shape == (100_000,)
    assert tf.ones([MIB]).shape == (MIB,) and small.numpy().sum() == 1000


def test_scopes_belong_to_their_thread():
    errors = []

    def other():
        try:
            tf.ones([MIB])
        except tf.errors.ResourceExhaustedError as error:
            errors.append(error)

    with tf.memory.limit("64KiB"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert not errors


def test_limit_from_the_environment():
    code = "import tidemark as tf; print(tf.memory.get_limit())"
    environment = {**os.environ, "TIDEMARK_MEMORY_LIMIT": "123MiB"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == 123 * MIB


def test_the_default_limit_is_below_the_machines_memory():
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < tf.memory.get_limit() <= total
