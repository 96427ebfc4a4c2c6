"""Random numbers: shape, dtype, range; many of them have the mean and spread of their distribution;
stateless ones are the same whenever the seed is."""

import numpy as np

import tidemark as tf
from op_cases.drawing import Example, case, narrow, np_dtype, wide

FLOATS = ("float16", "bfloat16", "float32", "float64")


def near(values, mean, deviation, rounding=0.02):
    """Mean and deviation within six of their own errors, and what the dtype rounds off."""
    values = wide(values).astype(float).reshape(-1)
    if values.size < 2000:
        return
    error = 6 * deviation / np.sqrt(values.size) + rounding * abs(mean) + 1e-9
    np.testing.assert_allclose(values.mean(), mean, rtol=0, atol=error)
    np.testing.assert_allclose(values.std(), deviation, rtol=0.15)


def seeds(d):
    return np.array([d.int(0, 99), d.int(0, 99)], d.pick("int32", "int64"))


def numbers(d, more=()):
    """The inputs before the parameters, and what may be needed of the shape."""
    shape = (*d.shape(high=2), *more) if not d.large else (20_001, *more)
    first = [np.array(shape, d.index_dtype())]
    if d.op.startswith("stream_"):
        # A key, and a counter whose lower part may run over.
        return shape, [*first, np.array([d.int(0, 99), 2**64 - 1 - d.int(0, 99), 7], np.uint64)]
    return shape, first + [seeds(d)] if d.op.startswith("stateless") else first


def repeats(d, example):
    """A draw that has no state comes again."""
    if d.op.startswith("random_"):
        return example
    look = example.check

    def check(outputs):
        look(outputs)
        from tidemark import _tidemark

        again = _tidemark.call(d.op, [tf.constant(x) for x in example.inputs], example.attrs)
        np.testing.assert_array_equal(wide(again.numpy()), wide(outputs[0]))

    example.check = check
    return example


def both(name):
    return (f"random_{name}", f"stateless_random_{name}")


def all_three(name):
    return (*both(name), f"stream_random_{name}")


@case("random_stream")
def stream(d):
    """Each call starts where the one before ended: a block is one step of the counter."""
    blocks, seed = d.int(0, 1000), d.pick(None, 3)
    attrs = {"blocks": blocks, **({} if seed is None else {"seed": seed})}

    def check(outputs):
        from tidemark import _tidemark

        first = outputs[0]
        assert first.shape == (3,) and first.dtype == np.uint64
        tf.random.set_seed(5)
        starts = [_tidemark.call("random_stream", [], attrs).numpy() for _ in range(3)]
        for before, after in zip(starts, starts[1:], strict=False):
            np.testing.assert_array_equal(after, before + np.array([0, blocks, 0], np.uint64))

    return Example([], attrs, check=check)


@case(*all_three("normal"), *all_three("truncated_normal"), *all_three("uniform"))
def continuous(d):
    shape, inputs = numbers(d)
    dtype, kind = d.pick(*FLOATS), d.op.partition("random_")[2]
    if kind == "uniform":
        low, high = d.pick((0.0, 1.0), (-2.0, 3.0))
        attrs, mean, deviation = {"minval": low, "maxval": high}, (low + high) / 2, 0
        deviation = (high - low) / np.sqrt(12)
    else:
        mean, spread = d.pick((0.0, 1.0), (2.0, 0.5))
        attrs = {"mean": mean, "stddev": spread}
        deviation = spread * (0.8796 if kind == "truncated_normal" else 1)

    def check(outputs):
        x = outputs[0]
        assert x.shape == shape and x.dtype == np_dtype(dtype)
        w = wide(x)
        if kind == "uniform":
            assert (w >= attrs["minval"]).all() and (w <= attrs["maxval"]).all()
        if kind == "truncated_normal":
            assert (np.abs(w - mean) <= 2.02 * attrs["stddev"]).all()
        near(x, mean, deviation)

    return repeats(d, Example(inputs, {**attrs, "dtype": dtype}, check=check))


@case(*both("uniform_int"), *both("full_int"))
def integers(d):
    shape, inputs = numbers(d)
    if d.op.endswith("full_int"):
        dtype = d.pick("int32", "int64", "uint32", "uint64")

        def check(outputs):
            x = outputs[0]
            assert x.shape == shape and x.dtype == np.dtype(dtype)
            info = np.iinfo(dtype)
            span = float(info.max) - float(info.min)
            near(x.astype(float) / span, (float(info.max) + float(info.min)) / 2 / span, 12**-0.5)

        return repeats(d, Example(inputs, {"dtype": dtype}, check=check))
    low, high = narrow(d.int(0, 3), d.dtype), narrow(d.int(5, 100), d.dtype)

    def check_range(outputs):
        x = outputs[0]
        assert x.shape == shape and x.dtype == np.dtype(d.dtype)
        assert (x >= low).all() and (x < high).all()
        n = int(high) - int(low)
        near(x, (int(low) + int(high) - 1) / 2, np.sqrt((n * n - 1) / 12))

    return repeats(d, Example([*inputs, low, high], {}, check=check_range))


@case(*both("gamma"), *both("poisson"))
def with_a_parameter(d):
    gamma = d.op.endswith("gamma")
    rate = d.finite((), low=1.5, high=9)
    shape, inputs = numbers(d)
    attrs = {} if gamma else {"dtype": d.pick("float32", "float64", "int32", "int64")}

    def check(outputs):
        x = outputs[0]
        assert x.shape == shape
        assert x.dtype == (rate.dtype if gamma else np.dtype(attrs["dtype"]))
        assert (wide(x) >= 0).all()
        mean = float(wide(rate))
        near(x, mean, np.sqrt(mean))

    return repeats(d, Example([*inputs, rate], attrs, check=check))


@case(*both("binomial"))
def binomial(d):
    counts, p = narrow(d.int(1, 20), d.dtype), d.finite((), low=0.2, high=0.8)
    shape, inputs = numbers(d)
    dtype = d.pick("int32", "int64", "float32", "float64")

    def check(outputs):
        x, n, q = outputs[0], float(wide(counts)), float(wide(p))
        assert x.shape == shape and x.dtype == np.dtype(dtype)
        assert (x >= 0).all() and (x <= n).all()
        near(x, n * q, np.sqrt(n * q * (1 - q)))

    return repeats(d, Example([*inputs, counts, p], {"dtype": dtype}, check=check))


@case(*both("shuffle"))
def shuffle(d):
    shape = d.shape(1, 3)
    x = d.finite(shape)

    def check(outputs):
        def ordered(a):
            rows = a.reshape(a.shape[0], a.size // max(1, a.shape[0]))
            return sorted(row.tobytes() for row in rows)

        assert outputs[0].shape == x.shape and outputs[0].dtype == x.dtype
        assert ordered(outputs[0]) == ordered(x)

    return repeats(d, Example([x, seeds(d)] if d.op.startswith("stateless") else [x], check=check))
