"""``tf.random.Generator``: a stream of random numbers with a state of its own."""

from __future__ import annotations

import enum
import threading

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast
from tidemark._tidemark import Tensor, call, convert, is_tracing, python_call
from tidemark._trackable.tracking import AutoTrackable, Trackable
from tidemark.random import _draws
from tidemark.random._state import as_int64, fresh_seed, mixed


@export("tf.random.Algorithm", "tf.random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """The algorithms TensorFlow names. All of them mean our one counter-based generator."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _algorithm(alg):
    if isinstance(alg, Algorithm):
        return alg
    if isinstance(alg, str) and alg.upper() in Algorithm.__members__:
        return Algorithm[alg.upper()]
    if isinstance(alg, int) and alg in (1, 2, 3):
        return Algorithm(alg)
    raise ValueError(
        f"Unsupported algorithm {alg!r}; allowed are 'philox', 'threefry' and 'auto_select'"
    )


def _numbers(state):
    values = state.numpy().tolist() if isinstance(state, Tensor) else list(state)
    return [as_int64(v) for v in values]


def _as_int64_tensor(value):
    if isinstance(value, Tensor):
        return cast(value, dtypes.int64)
    return convert(value, dtypes.int64._enum)


@export("tf.random.create_rng_state", "tf.random.experimental.create_rng_state")
def create_rng_state(seed, alg):
    """The state [counter, counter, key] that a seed stands for, as a tensor."""
    _algorithm(alg)
    return convert([*_seed_numbers(seed), 0][:3], dtypes.int64._enum)


def _seed_numbers(seed):
    if isinstance(seed, (list, tuple)) or (isinstance(seed, Tensor) and seed.ndim):
        numbers = _numbers(seed)
        return [numbers[0], mixed(numbers[1], 0) if len(numbers) > 1 else 0]
    return [as_int64(seed), 0]


class GeneratorState(Trackable):
    """Where a generator stands: [counter, counter, key], which a checkpoint saves."""

    def __init__(self, numbers):
        self._lock = threading.Lock()
        self.put(numbers)

    def put(self, numbers):
        """Another state."""
        if len(numbers) != 3:
            raise ValueError(f"a state has three numbers, got {len(numbers)}")
        with self._lock:
            self._numbers = list(numbers)

    def numbers(self):
        """The state now."""
        return list(self._numbers)

    def tensor(self):
        """The same, as a tensor."""
        return convert(self.numbers(), dtypes.int64._enum)

    def advance(self, count):
        """The state before, of which ``count`` numbers are used up now."""
        with self._lock:
            before = list(self._numbers)
            self._numbers[0] = as_int64(before[0] + count)
        return before


@export("tf.random.Generator", "tf.random.experimental.Generator")
class Generator(AutoTrackable):
    """Draws numbers; each draw advances the state, so the n-th draw is always the same."""

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("give either copy_from or state and alg, not both")
            self._state_var = GeneratorState(copy_from._state_var.numbers())
            self._alg = copy_from._alg
            return
        if state is None or alg is None:
            raise ValueError(
                "a Generator needs a state and an alg; use Generator.from_seed, "
                "from_non_deterministic_state, from_state or from_key_counter"
            )
        self._alg = Algorithm.PHILOX if alg == "auto_select" else _algorithm(alg)
        self._state_var = GeneratorState(_numbers(state))

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator whose numbers depend on the seed alone."""
        return cls(state=[*_seed_numbers(seed), 0], alg=alg or "philox")

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator whose numbers nobody can foretell."""
        return cls(state=[0, *fresh_seed()], alg=alg or "philox")

    @classmethod
    def from_state(cls, state, alg):
        """A generator that goes on where one with this state stood."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator from the parts of a state."""
        return cls(state=[*_numbers(counter), as_int64(key)], alg=alg)

    # --- state -----------------------------------------------------------------------------------

    @property
    def state(self):
        """[counter, counter, key] as a tensor."""
        if is_tracing():  # what it is whenever the graph runs
            state = self._state_var
            return python_call(state.numbers, [], [(dtypes.int64, (3,))], True)[0]
        return self._state_var.tensor()

    @property
    def key(self):
        """The last part of the state."""
        return self.state[2]

    @property
    def algorithm(self):
        """TensorFlow's number of the algorithm."""
        return self._alg.value

    def reset(self, state):
        """Puts the generator into a state: now, or whenever the graph runs."""
        if is_tracing():
            state = _as_int64_tensor(state)
            python_call(lambda state: self._state_var.put(_numbers(state)), [state], [], True)
        else:
            self._state_var.put(_numbers(state))

    def reset_from_seed(self, seed):
        """Puts the generator into the state that a seed stands for."""
        if is_tracing() and isinstance(seed, Tensor) and seed.ndim == 0:
            seed = call("reshape", (_as_int64_tensor(seed), (1,)), {})
            self.reset(call("concat", (seed, convert([0, 0], dtypes.int64._enum)), {"axis": 0}))
        else:
            self.reset([*_seed_numbers(seed), 0])

    def reset_from_key_counter(self, key, counter):
        """Puts the generator into a state given by its parts."""
        if is_tracing():
            key = call("reshape", (_as_int64_tensor(key), (1,)), {})
            self.reset(call("concat", (_as_int64_tensor(counter), key), {"axis": 0}))
        else:
            self.reset([*_numbers(counter), as_int64(key)])

    def skip(self, delta):
        """Advances as ``delta`` draws do; returns the new state."""
        self._advance(int(delta))
        return self.state

    def _advance(self, count):
        """The seed of the draws before which the state stood, then ``count`` on."""
        low, high, key = self._state_var.advance(count)
        return [mixed(key, high), low]

    def _next_seed(self):
        if is_tracing():  # a new one whenever the graph runs
            return python_call(lambda: self._advance(1), [], [(dtypes.int64, (2,))], True)[0]
        return self._advance(1)

    # --- drawing ---------------------------------------------------------------------------------

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Numbers of the normal distribution."""
        return _draws.normal(shape, self._next_seed(), mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal numbers, none further from the mean than two deviations."""
        return _draws.truncated_normal(shape, self._next_seed(), mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Numbers spread evenly from ``minval`` up to, not including, ``maxval``."""
        if dtypes.as_dtype(dtype).is_integer and minval is None and maxval is None:
            return self.uniform_full_int(shape, dtype)
        return _draws.uniform(shape, self._next_seed(), minval, maxval, dtype)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers over the whole range of their type."""
        return _draws.full_integers(shape, self._next_seed(), dtype)

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """Binomial numbers; counts and probs broadcast to the shape."""
        return _draws.binomial(shape, self._next_seed(), counts, probs, dtype)

    def make_seeds(self, count=1):
        """Seeds for stateless ops: a tensor of shape [2, count], one in each column."""
        seeds = _draws.full_integers((1, int(count)), self._next_seed(), dtypes.int64)
        return call("pad", (seeds, [[0, 1], [0, 0]], convert(0, dtypes.int64._enum)), {})

    def split(self, count=1):
        """New generators whose streams have nothing to do with each other or with this one."""
        keys = _draws.full_integers((int(count),), self._next_seed(), dtypes.int64)
        return [Generator(state=[0, 0, key], alg=self._alg) for key in keys.numpy().tolist()]


_global_lock = threading.Lock()
_global = None


@export("tf.random.get_global_generator", "tf.random.experimental.get_global_generator")
def get_global_generator():
    """The generator of the program, made on first use."""
    global _global
    with _global_lock:
        if _global is None:
            _global = Generator.from_non_deterministic_state()
        return _global


@export("tf.random.set_global_generator", "tf.random.experimental.set_global_generator")
def set_global_generator(generator):
    """Replaces the generator of the program."""
    global _global
    with _global_lock:
        _global = generator
