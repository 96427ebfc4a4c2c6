"""Operations that draw random numbers from a key and a counter, or from a generator's state.

A key and a counter are the two numbers of a stateless seed: what TensorFlow draws by one operation
from a seed, and by another from the seed's key and counter, is the same here, too.
"""

from __future__ import annotations

import tidemark as tf
from tidemark._tensor.methods import Reference

_PHILOX = 1


def _seed(key, counter):
    """The seed that has the key and the counter."""
    parts = [tf.reshape(key, [-1])[:1], tf.reshape(counter, [-1])[:1]]
    return tf.concat([tf.bitcast(part, tf.int64) for part in parts], 0)


def _key_counter(seed):
    key, counter = (tf.bitcast(tf.cast(part, tf.int64), tf.uint64) for part in tf.unstack(seed))
    return [tf.reshape(key, [1]), tf.stack([counter, tf.zeros([], tf.uint64)])]


def _algorithm():
    return tf.constant(_PHILOX)


def _check(alg):
    if int(alg) not in (_PHILOX, 3):  # 3: TensorFlow chooses
        raise tf.errors.InvalidArgumentError(
            None, None, f"the algorithm has to be Philox (1) or automatic (3); given {int(alg)}"
        )


def _drawn(draw):
    """The operation on a key and a counter that a draw by seed is."""

    def made(shape, key, counter, alg, **given):
        _check(alg)
        return draw(shape, _seed(key, counter), **given)

    return made


def _uniform(shape, seed, dtype):
    return tf.random.stateless_uniform(shape, seed, dtype=dtype)


def _normal(shape, seed, dtype):
    return tf.random.stateless_normal(shape, seed, dtype=dtype)


def _truncated(shape, seed, dtype):
    return tf.random.stateless_truncated_normal(shape, seed, dtype=dtype)


def _full_int(shape, seed, dtype):
    return tf.random.stateless_uniform(shape, seed, None, None, dtype)


def _int(shape, seed, minval, maxval):
    return tf.random.stateless_uniform(shape, seed, minval, maxval, minval.dtype)


def _gamma(shape, seed, alpha):
    return tf.random.stateless_gamma(shape, seed, alpha, dtype=alpha.dtype)


def _shuffle(value, key, counter, alg):
    _check(alg)
    return tf.random.experimental.stateless_shuffle(value, _seed(key, counter))


def _parameterized(shape, means, stdevs, minvals, maxvals, seed, seed2):
    """Normal numbers between bounds, each row of the shape with parameters of its own."""
    chosen = (seed, seed2) if seed or seed2 else tf.random.uniform([2], 0, 2**31 - 1, tf.int32)
    return tf.random.stateless_parameterized_truncated_normal(
        shape, chosen, *(_by_row(one, shape) for one in (means, stdevs, minvals, maxvals))
    )


def _by_row(parameter, shape):
    if parameter.shape.rank == 0 or parameter.shape[0] == 1:
        return tf.reshape(parameter, [])
    return tf.reshape(parameter, [-1, *[1] * (int(tf.size(shape)) - 1)])


# --- generators' states --------------------------------------------------------------------------


def _stateful(method):
    """The operation that draws from the state in a variable, and moves the state on."""

    def made(resource, shape, algorithm=_PHILOX, **given):
        _check(algorithm)
        variable = resource.deref() if isinstance(resource, Reference) else resource
        generator = tf.random.Generator.from_state(variable.value(), "philox")
        drawn = getattr(generator, method)(shape, **given)
        variable.assign(generator.state)
        return drawn

    return made


def _stateful_int(resource, shape, minval, maxval, algorithm):
    draw = _stateful("uniform")
    return draw(resource, shape, algorithm, minval=minval, maxval=maxval, dtype=minval.dtype)


def _skip(resource, algorithm, delta):
    _check(algorithm)
    _moved(resource, delta)


def _moved(resource, delta):
    variable = resource.deref() if isinstance(resource, Reference) else resource
    generator = tf.random.Generator.from_state(variable.value(), "philox")
    generator.skip(delta)
    before = variable.read_value()
    variable.assign(generator.state)
    return before


def _read_and_skip(resource, alg, delta):
    _check(alg)
    return _moved(resource, tf.cast(delta, tf.int64))


WRITTEN = {
    "ParameterizedTruncatedNormal": _parameterized,
    "RngReadAndSkip": _read_and_skip,
    "RngSkip": _skip,
    "StatefulRandomBinomial": _stateful("binomial"),
    "StatefulStandardNormalV2": _stateful("normal"),
    "StatefulTruncatedNormal": _stateful("truncated_normal"),
    "StatefulUniform": _stateful("uniform"),
    "StatefulUniformFullInt": _stateful("uniform_full_int"),
    "StatefulUniformInt": _stateful_int,
    "StatelessRandomGammaV2": lambda shape, seed, alpha: _gamma(shape, seed, alpha),
    "StatelessRandomGammaV3": _drawn(_gamma),
    "StatelessRandomGetAlg": _algorithm,
    "StatelessRandomGetKeyCounter": _key_counter,
    "StatelessRandomGetKeyCounterAlg": lambda seed: [*_key_counter(seed), _algorithm()],
    "StatelessRandomNormalV2": _drawn(_normal),
    "StatelessRandomUniformFullInt": _full_int,
    "StatelessRandomUniformFullIntV2": _drawn(_full_int),
    "StatelessRandomUniformIntV2": _drawn(_int),
    "StatelessRandomUniformV2": _drawn(_uniform),
    "StatelessShuffle": _shuffle,
    "StatelessTruncatedNormalV2": _drawn(_truncated),
}
