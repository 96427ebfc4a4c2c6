"""Python state that a trace has baked in: a change is told once, with its name and line."""

import functools
import gc
import inspect
import types
import weakref

import pytest

import tidemark as tf

pytestmark = pytest.mark.unwatched

X = tf.constant(1.0)
RATE = 2.0
SETTINGS = types.ModuleType("settings_of_the_test")


@pytest.fixture
def told(caplog):
    caplog.set_level("WARNING", logger="tidemark")

    def texts():
        found = [r.getMessage() for r in caplog.records if "has changed since" in r.getMessage()]
        caplog.clear()
        return found

    return texts


def line_of(function, text):
    """The line of the function on which the text stands."""
    lines, first = inspect.getsourcelines(inspect.unwrap(function))
    return first + next(at for at, line in enumerate(lines) if text in line)


def test_attributes_of_the_object_of_a_method(told):
    class Model:
        def __init__(self):
            self.rate, self.other = 2.0, 1

        @tf.function
        def step(self, x):
            return x * self.rate

    model = Model()
    assert model.step(X).numpy() == 2.0
    model.other = 5  # not read
    assert model.step(X).numpy() == 2.0 and told() == []
    model.rate = 3.0
    assert model.step(X).numpy() == 2.0
    (text,) = told()
    line = line_of(Model.__dict__["step"]._python_function, "self.rate")
    assert f"'self.rate' ({__file__}:{line})" in text and "2.0 then, 3.0 now" in text
    for _ in range(20):
        model.rate += 1
        model.step(X)
    assert told() == []


def test_attributes_of_modules_objects_and_classes(told):
    class Base:
        depth = 1

    class Config(Base):
        __slots__ = ("width",)

    config = Config()
    config.width = 4
    SETTINGS.scale = 1.0

    @tf.function
    def f(x):
        return x * SETTINGS.scale + config.width + config.depth

    assert f(X).numpy() == 6.0
    config.width = 5
    assert f(X).numpy() == 6.0
    assert "'config.width'" in told()[0]
    SETTINGS.scale = 7.0
    f(X)
    assert "'SETTINGS.scale'" in told()[0]
    Base.depth = 2
    f(X)
    assert "'config.depth'" in told()[0]


def test_objects_given_as_arguments(told):
    class Config:
        rate = 2.0

    @tf.function
    def f(config, x):
        return x * config.rate

    config = Config()
    f(config, X)
    f(config, X)
    assert told() == []
    config.rate = 9.0
    assert f(config, X).numpy() == 2.0
    assert "'config.rate'" in told()[0]
    gone = weakref.ref(config)
    del config
    assert gone() is None


def test_items_of_lists_and_dicts(told):
    table = {"a": {"rate": 1.0}, **{str(i): i for i in range(200)}}
    sizes = [1, 2, 3]

    @tf.function
    def f(x):
        for size in sizes:
            x = x + size
        return x * table["a"]["rate"]

    assert f(X).numpy() == 7.0
    table["5"] = 0  # not read
    assert f(X).numpy() == 7.0 and told() == []
    table["a"]["rate"] = 2.0
    f(X)
    assert 'table["a"]["rate"]' in told()[0]
    sizes[1] = 5
    f(X)
    assert "'sizes'" in told()[0]


def test_an_object_in_place_of_another(told):
    class Layer:
        def __init__(self, w):
            self.w = w

    layer = Layer(tf.constant(2.0))

    @tf.function
    def f(x):
        return x * layer.w

    f(X)
    layer.w = tf.constant(3.0)
    assert f(X).numpy() == 2.0
    assert "'layer.w'" in told()[0]


def test_functions_that_are_called(told):
    class Model:
        def __init__(self):
            self.rate = 2.0

        def scaled(self, x):
            return x * self.rate * RATE

        @tf.function
        def step(self, x):
            return self.scaled(x)

    rate = 1.0

    def helper(x):
        return x + rate

    f = tf.function(lambda x: helper(x))
    g = tf.function(lambda x: f(x))
    model = Model()
    model.step(X), f(X), g(X)
    assert told() == []
    rate = 5.0
    assert f(X).numpy() == 2.0
    assert "'rate'" in told()[0]
    g(X)
    assert "'rate'" in told()[0]
    model.rate = 4.0
    model.step(X)
    assert "'self.rate'" in told()[0]


def test_what_is_only_written_to_is_not_told(told):
    log, seen = [], set()

    @tf.function
    def f(x, n):
        log.append(n)
        seen.add(n)
        return x

    f(X, "a"), f(X, "b")
    log.append(1)
    f(X, "a")
    assert told() == []


def test_properties_are_not_run(told):
    class Model:
        asked = 0

        @property
        def rate(self):
            self.asked += 1
            return float(self.asked)

        def __getattr__(self, name):
            raise RuntimeError(name)

        @tf.function
        def step(self, x):
            return x * self.rate

    model = Model()
    for _ in range(30):
        model.step(X)
    assert model.asked == 1 and told() == []


def test_what_the_trace_itself_changed_is_not_told(told):
    class Model:
        def __init__(self):
            self.v, self.calls = None, 0

        @tf.function
        def step(self, x):
            self.calls += 1
            if self.v is None:
                self.v = tf.Variable(3.0)
            return x * self.v

    model = Model()
    for _ in range(20):
        assert model.step(X).numpy() == 3.0
    assert told() == []


def test_partials_and_callable_objects(told):
    class Scale:
        rate = 2.0

        def __call__(self, x):
            return x * self.rate

    scale = Scale()
    f = tf.function(scale)
    g = tf.function(functools.partial(lambda k, x: x * k * RATE, 2.0))
    f(X), g(X)
    scale.rate = 3.0
    f(X), g(X)
    (text,) = told()
    assert "'self.rate'" in text


def test_nan_is_the_same_and_a_change_back_is_none(told):
    holder = types.SimpleNamespace(nan=float("nan"), rate=1)

    @tf.function
    def f(x):
        return x * holder.nan * holder.rate

    f(X)
    holder.nan, holder.rate = float("nan"), 2
    holder.rate = 1
    f(X)
    assert told() == []


def test_nothing_is_kept_alive():
    class Big:
        pass

    big = Big()
    big.inner = Big()
    big.inner.rate = 1.0

    @tf.function
    def f(x):
        return x * big.inner.rate

    f(X)
    gone = weakref.ref(big.inner)
    gc.disable()
    try:
        big.inner = None
        assert gone() is None
        f(X)
    finally:
        gc.enable()
