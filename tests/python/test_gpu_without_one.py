"""What a program on a GPU does, over a driver made of host memory and kernels compiled for it."""

import importlib.util
from pathlib import Path

import fake_gpu
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gpu")


SOME_OPS = """
import tidemark as tf
with tf.device("/GPU:0"):
    x = tf.ones((3, 4))
    for _ in range(3):
        y = tf.tanh(x + x) - 2.0
    assert y.device.endswith("GPU:0"), y.device
import numpy as np
np.testing.assert_allclose(y.numpy(), np.tanh(2.0) - 2.0, rtol=1e-6)
"""


def compiled(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_a_second_process_compiles_nothing(folder, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    fake_gpu.run(SOME_OPS, folder, XDG_CACHE_HOME=str(tmp_path), TIDEMARK_FAKE_GPU_LOG=str(first))
    assert compiled(first) >= 3, "each once"
    fake_gpu.run(SOME_OPS, folder, XDG_CACHE_HOME=str(tmp_path), TIDEMARK_FAKE_GPU_LOG=str(second))
    assert compiled(second) == 0
    kept = list((tmp_path / "tidemark-kernels").iterdir())
    assert len(kept) == compiled(first)
    for file in kept[1:]:  # what is torn is as good as none
        file.write_bytes(file.read_bytes()[:-100])
    fake_gpu.run(SOME_OPS, folder, XDG_CACHE_HOME=str(tmp_path), TIDEMARK_FAKE_GPU_LOG=str(second))
    assert compiled(second) == len(kept) - 1


def test_kept_kernels_are_bounded(folder, tmp_path):
    most = 100_000
    fake_gpu.run(SOME_OPS, folder, XDG_CACHE_HOME=str(tmp_path), TIDEMARK_KERNEL_CACHE=str(most))
    assert 0 < sum(f.stat().st_size for f in (tmp_path / "tidemark-kernels").iterdir()) <= most


USE = """
import tidemark as tf
from tidemark import _tidemark
with tf.device("/GPU:0"):
    kept = tf.ones((1 << 20,)) * 2.0
use = _tidemark.device_use("gpu:0")
assert use["taken"] == use["committed"] + use["context"] + use["others"], use
assert use["committed"] >= 4 << 20 and use["context"] > 0 and use["others"] > 0, use
assert use["tells_processes"], use
report = str(tf.memory.report())
assert "\\n        + context 128 KiB + other processes 192 KiB = " in report, report
"""


def test_the_report_tells_what_others_take(folder):
    fake_gpu.run(USE, folder)


LOGICAL = """
import numpy as np
import tidemark as tf
from tidemark import _tidemark

(gpu,) = tf.config.list_physical_devices("GPU")
assert "device_name" in tf.config.experimental.get_device_details(gpu)
halves = [tf.config.LogicalDeviceConfiguration(memory_limit=1),
          tf.config.LogicalDeviceConfiguration(memory_limit=2)]
tf.config.set_logical_device_configuration(gpu, halves)
assert tf.config.get_logical_device_configuration(gpu) == halves
assert "gpu:0" not in _tidemark.open_devices(), "asking opened it"
names = [d.name for d in tf.config.list_logical_devices("GPU")]
assert names == ["/device:GPU:0", "/device:GPU:1"], names
with tf.device("/GPU:1"):
    y = tf.ones((1 << 16,)) * 3.0
with tf.device("/GPU:0"):
    x = tf.ones((1 << 16,)) + y
assert x.device.endswith("GPU:0") and y.device.endswith("GPU:1"), (x.device, y.device)
np.testing.assert_array_equal(x.numpy(), np.full(1 << 16, 4, "float32"))
assert [_tidemark.device_stats(f"gpu:{i}")["limit"] for i in (0, 1)] == [1 << 20, 2 << 20]
for place, more, there in (("/GPU:0", 1 << 18, "gpu:0"), ("/GPU:1", 1 << 19, "gpu:1")):
    kept = _tidemark.device_stats(there)
    try:
        with tf.device(place):
            tf.ones((more,)) * 2.0
    except tf.errors.ResourceExhaustedError as error:
        assert there in str(error), error
    else:
        raise SystemExit(f"{there} has more than its limit")
    assert _tidemark.device_stats(there)["live"] == kept["live"]
uses = [_tidemark.device_use(f"gpu:{i}") for i in (0, 1)]
assert uses[0]["beside"] == uses[1]["committed"] > 0, uses
assert uses[1]["beside"] == uses[0]["committed"] > 0, uses
for use in uses:
    whole = use["committed"] + use["beside"] + use["context"] + use["others"]
    assert use["taken"] == whole, use
assert uses[0]["taken"] == uses[1]["taken"] and uses[0]["context"] == uses[1]["context"], uses
assert "+ its other logical devices" in str(tf.memory.report())
info = tf.config.experimental.get_memory_info("GPU:1")
assert info["current"] == _tidemark.device_stats("gpu:1")["live"], info
halves[0] = tf.config.LogicalDeviceConfiguration(memory_limit=3)
tf.config.set_logical_device_configuration(gpu, halves)    # limits may still change
assert _tidemark.device_stats("gpu:0")["limit"] == 3 << 20
for change, what in (
    (lambda: tf.config.set_logical_device_configuration(gpu, halves * 2), "Virtual"),
    (lambda: tf.config.set_visible_devices([], "GPU"), "Visible"),
):
    try:
        change()
    except RuntimeError as error:
        assert f"{what} devices cannot be modified after being initialized" in str(error), error
    else:
        raise SystemExit(f"{what} devices were changed")
assert [d.name for d in tf.config.list_logical_devices("GPU")] == names
"""


def test_one_gpu_is_several_logical_devices(folder):
    fake_gpu.run(LOGICAL, folder)


ROUNDED = """
import numpy as np
import tidemark as tf
x = tf.constant(np.array([[1.0 + 2.0**-12, 1.0 + 2.0**-10]], "float32"))
whole, rounded = x.numpy(), np.array([[1.0, 1.0 + 2.0**-10]], "float32")
config = tf.config.experimental
assert not config.tensor_float_32_execution_enabled()
config.enable_tensor_float_32_execution(ASKED)
one = tf.constant([[1.0]])
with tf.device("/GPU:0"):
    y = tf.matmul(one, x)
assert y.device.endswith("GPU:0")
np.testing.assert_array_equal(y, rounded if ASKED else whole)
with tf.device("/CPU:0"):
    np.testing.assert_array_equal(tf.matmul(one, x), whole)
config.enable_tensor_float_32_execution(ASKED)    # nothing changes
try:
    config.enable_tensor_float_32_execution(not ASKED)
except RuntimeError as error:
    assert "before the first op on a GPU" in str(error), error
else:
    raise SystemExit("it was switched while the GPU was in use")
assert config.tensor_float_32_execution_enabled() == ASKED
"""


@pytest.mark.parametrize("asked", ["True", "False"])
def test_operands_of_products_are_rounded_where_asked_for(folder, asked):
    fake_gpu.run(ROUNDED.replace("ASKED", asked), folder)


PICKED = """
import numpy as np
import tidemark as tf
from tidemark import _tidemark

drawn = np.random.default_rng(0).uniform(-1, 1, (5000, 3)).astype("float32")
with tf.device("/GPU:0"):
    x = tf.constant(drawn) + 0.0

    @tf.function
    def positive(x):
        return tf.boolean_mask(x, x[:, 0] > 0.5), tf.where(x > 0.9)

    for _ in range(2):
        rows, places = positive(x)
    assert rows.device.endswith("GPU:0") and places.device.endswith("GPU:0"), rows.device
np.testing.assert_array_equal(rows.numpy(), drawn[drawn[:, 0] > 0.5])
np.testing.assert_array_equal(places.numpy(), np.argwhere(drawn > 0.9))
few = x[:, 0] > 0.99
before = _tidemark.device_stats("gpu:0")["live"]
kept = [tf.boolean_mask(x, few) for _ in range(10)]
grown = _tidemark.device_stats("gpu:0")["live"] - before
assert 0 < len(kept[0]) < 100 and grown < 10 * (12 * len(kept[0]) + 512), (grown, kept[0].shape)
"""


def test_what_values_pick_stays_there(folder):
    fake_gpu.run(PICKED, folder)


def test_four_threads_on_four_streams(folder):
    program = Path(__file__).resolve().parents[1] / "gpu/four_streams.py"
    fake_gpu.run(
        f"import sys; sys.argv[1:] = ['--rounds', '3', '--limit', '1']\n"
        f"exec(compile(open({str(program)!r}).read(), 'four_streams.py', 'exec'))",
        folder,
    )


HIDDEN = """
import tidemark as tf
from tidemark import _tidemark
tf.config.set_visible_devices([], "GPU")
assert tf.config.list_logical_devices("GPU") == [] and not tf.test.is_gpu_available()
with tf.device("/GPU:0"):
    x = tf.ones(3) * 2.0
assert x.device.endswith("CPU:0") and _tidemark.open_devices() == ["cpu:0"]
"""


def test_a_gpu_that_is_not_visible_is_not_used(folder):
    fake_gpu.run(HIDDEN, folder)


FAULTS = """
import numpy as np
import tidemark as tf
from tidemark import _tidemark
x = _tidemark.copied_to(tf.constant(np.arange(100, dtype="int32")), "gpu:0")
for read in (np.asarray, lambda t: t.numpy(), np.array):
    try:
        read(x // (x - x))
    except tf.errors.InvalidArgumentError as error:
        assert "division by zero" in str(error), error
    else:
        raise SystemExit(f"{read} gave numbers")
assert np.asarray(x // (x + 1)).tolist() == [0] * 100
assert np.asarray(memoryview(x)).tolist() == list(range(100))
"""


def test_what_a_kernel_found_wrong_is_an_error_however_it_is_read(folder):
    fake_gpu.run(FAULTS, folder)


LENT = """
import numpy as np
import tidemark as tf
from tidemark import _tidemark
from tidemark.experimental.dlpack import from_dlpack, to_dlpack

numbers = np.arange(12, dtype="float32").reshape(3, 4)
with tf.device("/GPU:0"):
    x = tf.constant(numbers) * 2.0
assert x.__dlpack_device__() == (2, 0)
live = _tidemark.device_stats("gpu:0")["live"]
for y in (from_dlpack(x), from_dlpack(to_dlpack(x))):   # an object, and a capsule
    assert y.device.endswith("GPU:0"), y.device
    assert _tidemark.device_stats("gpu:0")["live"] == live, "elements were copied"
    np.testing.assert_array_equal((y + 1.0).numpy(), numbers * 2 + 1)
del y
copied = from_dlpack(x.__dlpack__(copy=True))
assert _tidemark.device_stats("gpu:0")["live"] > live
np.testing.assert_array_equal(copied.numpy(), numbers * 2)
there = from_dlpack(x.__dlpack__(dl_device=(1, 0)))
assert there.device.endswith("CPU:0")
np.testing.assert_array_equal(there.numpy(), numbers * 2)
for asked, why in (({"dl_device": (1, 0), "copy": False}, "copy=False forbids one"),
                   ({"dl_device": (10, 0)}, "there or on the CPU"),
                   ({"dl_device": 2}, "a pair of integers")):
    try:
        x.__dlpack__(**asked)
    except (BufferError, TypeError) as error:
        assert why in str(error), error
    else:
        raise SystemExit(f"{asked} was taken")
del copied, there
for _ in range(300):
    z = from_dlpack(to_dlpack(x * 1.0)) + 1.0
    to_dlpack(z)                                            # nobody takes it
del z
_tidemark.wait_for_devices()
assert _tidemark.device_stats("gpu:0")["live"] == live
"""


@pytest.mark.parametrize("late", ["", "1"])
def test_elements_are_lent_where_they_lie(folder, late):
    fake_gpu.run(LENT, folder, **({"TIDEMARK_FAKE_GPU_LATE": late} if late else {}))


PIPELINE = """
import numpy as np
import tidemark as tf
from tidemark import _tidemark
there = _tidemark.copied_to(tf.constant(np.arange(12, dtype="float32")), "gpu:0")
dataset = tf.data.Dataset.from_tensor_slices(there).map(lambda x: x * 2.0 + there[1])
dataset = dataset.filter(lambda x: x > 0.0).batch(4).prefetch(1)
batches = [b for b in dataset]
assert all(b.device.endswith("CPU:0") for b in batches), [b.device for b in batches]
together = np.concatenate([b.numpy() for b in batches])
np.testing.assert_array_equal(together, np.arange(12) * 2.0 + 1)
parallel = tf.data.Dataset.range(10).map(lambda i: tf.cast(i, tf.float32) + 0.5, 2).padded_batch(5)
assert [b.numpy().tolist() for b in parallel] == [[i + 0.5 for i in range(5)],
                                                  [i + 5.5 for i in range(5)]]
total = tf.data.Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b)
assert int(total) == 10
"""


def test_pipelines_work_on_the_host(folder):
    fake_gpu.run(PIPELINE, folder, TIDEMARK_DEVICE="gpu")


PLANNED = """
import contextlib, io
from tidemark import cli
said, told = io.StringIO(), io.StringIO()
with contextlib.redirect_stderr(said), contextlib.redirect_stdout(told):
    status = cli.main(["plan", {target!r}, "--shapes", "64x32", "32x32", "--device", {device!r}])
print(status, said.getvalue(), told.getvalue())
"""


def test_plans_are_made_for_a_gpu(folder, tmp_path):
    (tmp_path / "step.py").write_text(
        "import tensorflow as tf\n"
        "@tf.function\n"
        "def step(x, w):\n"
        "    return tf.reduce_sum(tf.tanh(tf.matmul(x, w)))\n"
    )

    def planned(device):
        program = PLANNED.format(target=f"{tmp_path}/step.py:step", device=device)
        status, _, told = fake_gpu.run(program, folder).partition(" ")
        return int(status), told

    status, told = planned("gpu")
    assert status == 0 and "gpu:0" in told, told
    status, told = planned("cpu")
    assert status == 0 and "gpu:0" not in told, told
    for wrong, why in (("gpu:7", "there is none such"), ("tpu", "name a GPU")):
        status, told = planned(wrong)
        assert status == 2 and why in told, told


FOURIER = """
import numpy as np
import tidemark as tf
from tidemark import _tidemark
random = np.random.default_rng(2)
def check(op, x, **attrs):
    wanted = np.asarray(_tidemark.call(op, [tf.constant(x)], attrs))
    moved = _tidemark.copied_to(tf.constant(x), "gpu:0")
    given = _tidemark.call(op, [moved], attrs)
    assert given.device.endswith("GPU:0"), (op, given.device)
    given = given.numpy()
    assert given.dtype == wanted.dtype and given.shape == wanted.shape, (op, x.shape, attrs)
    single = wanted.dtype in (np.complex64, np.float32)
    allowed = (4e-6 if single else 1e-12) * max(1.0, np.abs(wanted).max(initial=0.0))
    assert np.abs(given - wanted).max(initial=0.0) <= allowed, (op, x.shape, attrs)
for real, whole in (("float32", "complex64"), ("float64", "complex128")):
    for shape in ((1,), (12,), (3, 7), (2, 3, 8), (0, 4), (5, 3, 3)):
        r = random.normal(size=shape).astype(real)
        x = (r + 1j * random.normal(size=shape)).astype(whole)
        for inverse in (False, True):
            for axes in ([-1], [0], [0, -1] if len(shape) > 1 else [0], []):
                check("fft", x, inverse=inverse, axes=axes)
        check("rfft", r)
        check("irfft", x, length=2 * shape[-1] - 1)
        if shape[-1] > 1:
            check("irfft", x, length=2 * shape[-1] - 2)
x = random.normal(size=(4, 6)).astype("float32")
with tf.device("/GPU:0"):
    f = tf.function(lambda t: tf.signal.irfft(tf.signal.rfft(t) * 2.0))
    for _ in range(5):
        np.testing.assert_allclose(f(tf.constant(x)).numpy(), 2 * x, rtol=1e-5, atol=1e-6)
    part = (tf.constant(x) * 1.0)[1:3]           # begins where a library may not take it
    given = tf.signal.rfft(part).numpy()
    np.testing.assert_allclose(given, np.fft.rfft(x[1:3]), rtol=1e-4, atol=1e-5)
"""


def test_fourier_transforms_are_the_cpus(folder):
    fake_gpu.run(FOURIER, folder)


FRACTION = """
import tidemark as tf
from tidemark import _tidemark
tf = tf.compat.v1
whole = _tidemark.device_stats("gpu:0")["limit"]
options = tf.GPUOptions(per_process_gpu_memory_fraction=0.25, allow_growth=True)
with tf.Graph().as_default(), tf.device("/GPU:0"):
    small, large = tf.ones((1000,)), tf.ones((whole // 8,))
    with tf.Session(config=tf.ConfigProto(gpu_options=options)) as session:
        assert _tidemark.device_stats("gpu:0")["limit"] == whole // 4
        assert session.run(tf.reduce_sum(small * 2.0)) == 2000.0
        try:
            session.run(tf.reduce_sum(large * 2.0))
        except tf.errors.ResourceExhaustedError as error:
            assert "gpu:0" in str(error), error
            assert session.run(tf.reduce_sum(small)) == 1000.0
        else:
            raise SystemExit("half of the memory came out of a quarter")
"""


def test_a_session_takes_the_part_of_a_gpu_that_it_may(folder):
    fake_gpu.run(FRACTION, folder)


AHEAD = """
import numpy as np
import tidemark as tf
from tidemark.data.experimental import copy_to_device, prefetch_to_device
rows = np.arange(24, dtype="float32").reshape(12, 2)
names = np.array([str(i) for i in range(12)])
dataset = tf.data.Dataset.from_tensor_slices((rows, names)).map(lambda x, n: (x * 2.0, n)).batch(3)
step = tf.function(lambda x: tf.reduce_sum(x * x))
for step_there in (prefetch_to_device("/GPU:0", 2), copy_to_device("/gpu:0")):
    placed = dataset.apply(step_there)
    for _ in range(2):
        seen = list(placed)
        assert all(x.device.endswith("GPU:0") and n.device.endswith("CPU:0") for x, n in seen)
        np.testing.assert_array_equal(np.concatenate([x.numpy() for x, _ in seen]), rows * 2)
        assert step(seen[0][0]).device.endswith("GPU:0")
    assert len(list(placed.repeat(2).take(5).skip(1))) == 4
    assert placed.element_spec == dataset.element_spec and int(placed.cardinality()) == 4
    for wrong in (lambda: placed.batch(2), lambda: placed.map(lambda x, n: x)):
        try:
            wrong()
        except ValueError as error:
            assert "last steps of a pipeline" in str(error), error
        else:
            raise SystemExit("a step read what lies on the device")
"""


@pytest.mark.parametrize("late", ["", "1"])
def test_elements_are_made_ahead_on_the_gpu(folder, late):
    fake_gpu.run(AHEAD, folder, **({"TIDEMARK_FAKE_GPU_LATE": late} if late else {}))


SAVED = """
import numpy as np, tempfile
import tidemark as tf
class Model(tf.Module):
    def __init__(self):
        self.w = tf.Variable(np.arange(600, dtype="float32").reshape(20, 30))
        self.n = tf.Variable(tf.constant([1, 2], tf.int64))
    @tf.function(input_signature=[tf.TensorSpec([None, 20])])
    def __call__(self, x):
        return tf.tanh(tf.matmul(x, self.w)) + 1.0
model = Model()
assert model.w.device.endswith("GPU:0"), model.w.device
x = np.full((3, 20), 1e-3, "float32")
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(model, folder)
    again = tf.saved_model.load(folder)
assert again.w.device.endswith("GPU:0"), again.w.device
np.testing.assert_array_equal(again.w.numpy(), model.w.numpy())
np.testing.assert_array_equal(again(x).numpy(), model(x).numpy())
"""


def test_saved_models_come_back_to_the_gpu(folder):
    fake_gpu.run(SAVED, folder, TIDEMARK_DEVICE="gpu")


RANDOM = """
import numpy as np
import tidemark as tf
drawn = {}
for device in ("/CPU:0", "/GPU:0"):
    with tf.device(device):
        tf.random.set_seed(5)
        drawn[device] = [
            tf.random.normal((70, 3)), tf.random.uniform((99,), -1.0, 2.0, seed=4),
            tf.random.truncated_normal((5, 5), dtype="bfloat16"), tf.random.normal((4,)),
            tf.random.stateless_uniform((7,), [1, 2], 0, 9, tf.int32),
        ]
for here, there in zip(*drawn.values(), strict=True):
    assert np.asarray(here).tobytes() == np.asarray(there).tobytes(), (here, there)
assert all(t.device.endswith("GPU:0") for t in drawn["/GPU:0"][:4])
"""


def test_draws_are_made_on_the_gpu_and_are_the_cpus(folder):
    fake_gpu.run(RANDOM, folder)


RNN = """
import numpy as np
import tidemark as tf
tf.install_as_tensorflow()
import keras
x = np.random.default_rng(0).normal(0, 1, (4, 6, 3)).astype("float32")
made = {}
for device in ("/CPU:0", "/GPU:0"):
    with tf.device(device):
        keras.utils.set_random_seed(1)
        made[device] = [layer(5)(x).numpy() for layer in (keras.layers.LSTM, keras.layers.GRU)]
for here, there in zip(*made.values(), strict=True):
    np.testing.assert_allclose(here, there, rtol=1e-4, atol=1e-6)
"""


@pytest.mark.skipif(not importlib.util.find_spec("keras"), reason="Keras is not installed")
def test_recurrent_layers_of_keras_use_their_own_loop(folder):
    fake_gpu.run(RNN, folder)


def test_late_work_gives_the_same(folder):
    """Nothing is done before somebody waits for it: what was freed too early would show."""
    for program in (SOME_OPS, SAVED, PIPELINE):
        fake_gpu.run(program, folder, TIDEMARK_DEVICE="gpu", TIDEMARK_FAKE_GPU_LATE="1")
