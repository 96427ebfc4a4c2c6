"""AutoGraph: what loops go over, how they end, and what they assign."""

import pytest
from staged import run, staged
from tidemark.autograph import _iteration
from tidemark.autograph._impl import converted

import tidemark as tf

pytestmark = pytest.mark.unwatched

t = tf.constant


class Numbers:
    """What AutoGraph asks of a dataset."""

    element_spec = None

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def reduce(self, state, function):
        for item in self.items:
            state = function(state, item)
        return state

    def scan(self, state, function):
        def rounds():
            nonlocal state
            for item in self.items:
                state, out = function(state, item)
                yield out

        return Numbers(rounds())

    def take_while(self, test):
        def some():
            for item in self.items:
                if not bool(test(*item)):
                    return
                yield item

        return Numbers(some())


def test_datasets_drive_their_loops():
    def program(data):
        total, last = 0, None
        for x in data:
            if x % 2 == 0:
                total += x
            last = x
        return total, last

    total, last = run(program, Numbers([t(1), t(2), t(3), t(4)]))
    assert (int(total), int(last)) == (6, 4)


def test_a_break_ends_an_endless_dataset():
    def endless():
        value = 0
        while True:
            value += 1
            yield t(value)

    def program(data):
        total = 0
        for x in data:
            if x > 4:
                break
            total += x
        return total

    assert int(run(program, Numbers(endless()))) == 10


def test_other_iterables_can_be_registered():
    class Twice:
        pass

    def twice(iterated, extra_test, body, get_state, set_state, names, options):
        body(t(10))
        body(t(20))

    def program(values):
        total = 0
        for value in values:
            total += value
        return total

    before = list(_iteration._HANDLERS)
    _iteration.register_iterable(lambda value: isinstance(value, Twice), twice)
    try:
        assert int(run(program, Twice())) == 30
    finally:
        _iteration._HANDLERS[:] = before


def test_enumerate_zip_map_and_range_of_tensors():
    def program(x, n):
        total = 0
        for i, value in enumerate(x):
            total += i * value
        for a, b in zip(x, tf.range(n)):  # noqa: B905
            total += a * b
        for value in map(lambda v: v * 100, x):
            total += value
        for i in range(n):
            total += i
        return total, max(x), min(x), any(x > 2), all(x > 2), sorted(x, reverse=True), sum(x)

    x = t([3, 1, 2])
    total, high, low, some, every, descending, added = run(program, x, t(2))
    assert int(total) == (0 * 3 + 1 * 1 + 2 * 2) + (3 * 0 + 1 * 1) + 600 + 1
    assert (int(high), int(low), bool(some), bool(every)) == (3, 1, True, False)
    assert descending.numpy().tolist() == [3, 2, 1] and int(added) == 6


def test_a_break_on_a_tensor_in_a_python_loop():
    def program(x):
        for k in [1, 2, 3, 4]:
            x = x + k
            if x > 5:
                break
        return x

    assert [int(run(program, t(v))) for v in (0, 4, -20)] == [6, 7, -10]


def test_while_true_ends_by_a_break_or_return_on_a_tensor():
    def breaks(x):
        while True:
            x = x - 2
            if x < 0:
                break
        return x

    def returns(x):
        while True:
            x = x - 2
            if x < 0:
                return x * 100

    assert [int(run(breaks, t(v))) for v in (5, 0)] == [-1, -2]
    assert [int(run(returns, t(v))) for v in (5, 0)] == [-100, -200]


def test_return_out_of_loops():
    def search(x, n):
        for i in tf.range(n):
            if i * i > x:
                return i
        return -1

    assert [int(run(search, t(v), t(10))) for v in (3, 50, 1000)] == [2, 8, -1]

    def unfinished(x, n):
        for i in tf.range(n):
            if i * i > x:
                return i

    assert int(run(unfinished, t(3), t(10))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="without reaching a return"):
        run(unfinished, t(1000), t(10))


def test_scalars_cannot_be_iterated():
    def program(x):
        for _ in x:
            pass

    with pytest.raises(ValueError, match="cannot iterate over a scalar"):
        run(program, t(3))


def test_objects_stay_what_they_are():
    class Thing:
        pass

    first, second = Thing(), Thing()

    def same(x):
        chosen = second
        if x > 0:
            chosen = first
            y = 1
        else:
            chosen = first
            y = 2
        return chosen, y

    with staged():
        chosen, y = converted(same)(t(1))
    assert chosen is first and int(y) == 1

    def different(x):
        chosen = first if x > 0 else second
        return chosen

    with pytest.raises(TypeError, match="cannot be decided by a tensor"):
        run(different, t(1))


def test_attributes_written_in_a_loop():
    class Model:
        def __init__(self):
            self.steps = 0
            self.table = {"a": t(1)}

    def train(model, n):
        for i in tf.range(n):
            model.steps += 1
            model.table["a"] = model.table["a"] * 2 + i

    model = Model()
    run(train, model, t(3))
    assert int(model.steps) == 3 and int(model.table["a"]) == ((1 * 2) * 2 + 1) * 2 + 2


_total = 0


def test_globals_and_nonlocals_are_assigned():
    count = 0

    def program(n):
        global _total
        nonlocal count
        for i in tf.range(n):
            _total = _total + i
            if i > 1:
                count += 1

    run(program, t(4))
    assert int(_total) == 6 and int(count) == 2


def test_a_loop_without_variables():
    seen = []

    def program(x):
        while x.read() > 0:
            x.decrease()

    class Box:
        def __init__(self, value):
            self.value = tf.Variable(value)

        def read(self):
            return self.value.read_value()

        def decrease(self):
            seen.append(1)
            self.value.assign_sub(1)

    box = Box(3)
    run(program, box)
    assert int(box.value) == 0 and len(seen) == 3


def test_variables_are_conditions():
    flag, count = tf.Variable(True), tf.Variable(3)

    def program():
        total = 0
        while count > 0:
            count.assign_sub(1)
            total += 1
        if flag:
            total += 10
        return total

    assert int(run(program)) == 12  # one round was spent on tracing


class Number:
    """A value that says what tensor it is."""

    dtype, shape = tf.int32, tf.TensorShape([])

    def __init__(self, value):
        self._value = value

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.constant(self._value)


def test_values_that_say_what_tensor_they_are():
    def program(n):
        last = n
        for i in tf.range(n):
            last = i * 2
        return last

    assert int(run(program, Number(4))) == 6
    assert int(run(program, Number(0))) == 0


def test_composite_tensors_go_through_statements():
    def program(x, sparse):
        count, last = 0, sparse
        while x > 0:
            last = sparse
            sparse = tf.sparse.map_values(tf.add, sparse, 1)
            count += 1
            x -= 1
        if count > 1:
            sparse = last
        return tf.sparse.to_dense(sparse)

    sparse = tf.sparse.from_dense([0, 5, 0, 7])
    assert run(program, t(3), sparse).numpy().tolist() == [0, 7, 0, 9]
    assert run(program, t(1), sparse).numpy().tolist() == [0, 6, 0, 8]

    def late(x, sparse):
        while x > 0:
            last = sparse
            x -= 1
        return last

    with pytest.raises(TypeError, match="SparseTensor must be assigned before the loop"):
        run(late, t(3), sparse)
