"""Loops that the graph runs: ``tf.while_loop`` over the variables that they assign."""

from __future__ import annotations

import contextlib
import functools

import tidemark as tf
from tidemark import nest
from tidemark.autograph import _staging
from tidemark.autograph._context import inside_loop
from tidemark.autograph._lists import StagedList, spec_of
from tidemark.autograph._state import (
    Restage,
    State,
    as_tensor,
    check_same_structure,
    copied,
    described,
    grew,
    is_dynamic,
    is_opaque,
    is_replaced,
    is_return_value,
    leaf_pairs,
    placeholder,
    type_mismatch,
    wider_shape,
    with_read_variables,
)
from tidemark.autograph._variables import is_undefined
from tidemark.tensor_shape import TensorShape

_OPTIONS = ("parallel_iterations", "swap_memory", "maximum_iterations")


def staged_while(test, body, get_state, set_state, names, options):
    """Builds ``while test(): body()``."""
    loop = _Loop(names, get_state, set_state, options)
    loop.run(lambda _: test(), lambda _: body(), counted=False)


def staged_for(sequence, extra_test, body, get_state, set_state, names, options):
    """Builds a loop over a staged sequence that goes on while the extra test holds.

    Its length is an int or an int32 scalar. After a loop without rounds the target of a range is 0,
    as in TensorFlow; that of any other sequence has no value, and to look at it is an error.
    """
    length, element = sequence.length, sequence.element

    def goes_on(index):
        inside = index < length
        if extra_test is None:
            return inside
        return tf.logical_and(inside, _as_bool(extra_test()))  # made of flags: cheap and safe

    targets = _target_names(options.get("iterate_names", "")) if sequence.counts else ()
    loop = _Loop(names, get_state, set_state, options, targets, None if extra_test else length)
    loop.run(goes_on, lambda index: body(element(index)), counted=True)


def staged_for_dataset(dataset, extra_test, body, get_state, set_state, names, options):
    """Builds ``for element in dataset: body(element)``."""
    if extra_test is not None:  # a loop that may end early
        iterator = iter(dataset)
        if hasattr(type(iterator), "next_if"):
            staged_for_iterator(iterator, extra_test, body, get_state, set_state, names, options)
            return
    loop = _Loop(names, get_state, set_state, options)
    loop.run_over(dataset, extra_test, body)


def staged_for_iterator(iterator, extra_test, body, get_state, set_state, names, options):
    """Builds ``for element in iterator: body(element)``: what a break leaves is still there."""
    ahead = [_next_if(iterator, extra_test)]

    def test():
        found = ahead[0][0]
        return found if extra_test is None else tf.logical_and(found, _as_bool(extra_test()))

    def one_round():
        body(iterator.packed(list(ahead[0][1:])))
        ahead[0] = _next_if(iterator, extra_test)

    def set_all(values):
        set_state(values[:-1])
        ahead[0] = values[-1]

    loop = _Loop(
        (*names, "the next element"), lambda: (*get_state(), ahead[0]), set_all, options,
    )  # fmt: skip
    loop.run(lambda _: test(), lambda _: one_round(), counted=False)


def _next_if(iterator, extra_test):
    wanted = tf.constant(True) if extra_test is None else _as_bool(extra_test())
    return tuple(iterator.next_if(wanted))


def _target_names(text):
    for bracket in "()[]*":
        text = text.replace(bracket, " ")
    return {name.strip() for name in text.split(",")}


def _as_bool(value):
    value = tf.convert_to_tensor(value)
    if value.dtype != tf.bool:
        value = tf.cast(value, tf.bool)
    if value.shape.rank not in (None, 0):
        raise ValueError(
            f"condition of while loop expected to be `tf.bool` scalar, got {described(value)}; to "
            "ask about all elements, use tf.reduce_all or tf.reduce_any"
        )
    return value


class _Loop:
    """What is known of a loop while it is built, maybe more than once.

    A variable that has no value before the loop, and a list that grows in it, are of a type that
    only the body tells: the first attempt finds it out and is thrown away.
    """

    def __init__(self, names, get_state, set_state, options, targets=(), rounds=None):
        self._names = names
        self._get_state = get_state
        self._set_state = set_state
        self._options = options
        self._targets = targets
        self._rounds = rounds  # how many there will be, where that is known before the loop
        self._original = get_state()
        self._initial = list(copied(self._original))
        self._learnt = {}  # number of a variable → what makes its first value, outside of the body
        self._unset = []  # numbers of the variables that get their first value in the loop
        self._invariants = [
            (value, TensorShape(shape)) for value, shape in options.get("shape_invariants", ())
        ]

    def run(self, test, body, counted):
        """Runs the body while the test holds; both get the number of the round if it counts."""
        self._run(lambda: self._attempt(test, body, counted))

    def _run(self, attempt):
        try:
            values, iterated = self._settled(attempt)
        except BaseException:
            self._set_state(self._original)
            raise
        self._check_iterated(iterated)
        self._set_state(tuple(_filled(value) for value in values))

    def _settled(self, attempt):
        """What the first attempt gives after which nothing is left to learn."""
        while True:
            with contextlib.suppress(Restage):
                return attempt()
            for n, make in self._learnt.items():
                self._initial[n] = make()
            self._learnt.clear()

    def _attempt(self, test, body, counted):
        """Builds the loop. Before the variables go a counter and whether a round was made."""
        state = State(self._initial)
        counted = counted or not state.tensors  # a loop needs a variable
        extra = [tf.constant(0)] if counted else []
        if self._unset:
            extra.append(tf.constant(False))

        def resumed(tensors):
            self._set_state(state.rebuilt(tensors[len(extra) :]))
            return tensors[0] if counted else None

        def test_fn(*tensors):
            with inside_loop():
                return _as_bool(test(resumed(tensors)))

        def body_fn(*tensors):
            with inside_loop():
                index = resumed(tensors)
                body(index)
                after = self._completed(self._get_state())
                self._check(after)
            more = [index + 1] if counted else []
            if self._unset:
                more.append(tf.constant(True))
            return (*more, *State(after).tensors)

        tensors = _staging.while_loop(
            test_fn, body_fn, (*extra, *state.tensors), **self._loop_options(state, extra)
        )
        tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        iterated = tensors[len(extra) - 1] if self._unset else None
        return state.rebuilt(tensors[len(extra) :]), iterated

    def run_over(self, dataset, extra_test, body):
        """Runs the body with each element of a dataset, which drives the loop."""
        self._run(lambda: self._attempt_over(dataset, extra_test, body))

    def _attempt_over(self, dataset, extra_test, body):
        state = State(self._initial)
        unset = [tf.constant(False)] if self._unset else []

        def resumed(tensors):
            self._set_state(state.rebuilt(list(tensors[len(unset) :])))

        def round_fn(tensors, element):
            with inside_loop():
                resumed(tensors)
                body(element)
                after = self._completed(self._get_state())
                self._check(after)
            return (*([tf.constant(True)] if unset else []), *State(after).tensors)

        def guarded_fn(tensors, element):
            with inside_loop():
                resumed(tensors)
                goes_on = _as_bool(extra_test())
            after = _staging.cond(goes_on, lambda: round_fn(tensors, element), lambda: tensors)
            return after, (after, goes_on)

        initial = (*unset, *state.tensors)
        if extra_test is None:
            tensors = dataset.reduce(initial, lambda old, *e: round_fn(old, _one(e)))
        else:
            rounds = dataset.scan(initial, lambda old, *e: guarded_fn(old, _one(e)))
            rounds = rounds.take_while(lambda _, goes_on: goes_on)
            tensors = rounds.reduce(initial, lambda _, *e: e[0] if len(e) > 1 else e[0][0])
        tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        return state.rebuilt(tensors[len(unset) :]), tensors[0] if unset else None

    def _loop_options(self, state, extra):
        given = {name: self._options[name] for name in _OPTIONS if name in self._options}
        if self._invariants:
            shapes = [_shape_of(tensor) for tensor in extra]
            for value, original in zip(self._initial, self._original, strict=True):
                shapes.extend(self._invariant_shapes(value, original))
            given["shape_invariants"] = tuple(shapes)
        return given

    def _invariant_shapes(self, value, original):
        wanted = [self._invariant(leaf) for leaf in nest.flatten(original)]
        whole = self._invariant(original)
        for leaf, shape in zip(nest.flatten(value), wanted, strict=False):
            if isinstance(leaf, StagedList):
                yield from (_shape_of(part) for part in leaf.parts())
            elif is_dynamic(leaf):
                yield shape or whole or _shape_of(as_tensor(leaf))

    def _invariant(self, value):
        for given, shape in self._invariants:
            if given is value:
                return shape
        return None

    def _completed(self, values):
        completed = list(values)
        for n, value in enumerate(values):
            if isinstance(value, list) and isinstance(self._initial[n], StagedList):
                completed[n] = StagedList.from_elements(value, self._initial[n].spec)
        return completed

    def _check(self, after):
        """Compares the variables after a round with those before the loop."""
        learnt = False
        for n, name in enumerate(self._names):
            before, value = self._initial[n], after[n]
            if is_undefined(before) or before is None:
                learnt |= self._learn(n, name, before, value)
            elif is_undefined(value):
                raise UnboundLocalError(
                    f"'{name}' is not defined at the end of the iteration, but was before the loop"
                )
            elif value is None:
                raise ValueError(
                    f"'{name}' is None at the end of the iteration. It had a value before the "
                    "loop, and must have one of the same type after each round."
                )
            elif grew(before, value):
                self._learnt[n] = functools.partial(self._as_staged_list, name, before, value)
                learnt = True
            elif is_replaced(before, value):
                self._learnt[n] = functools.partial(with_read_variables, before)
                learnt = True
            else:
                self._check_types(name, before, value, self._original[n])
                if isinstance(before, StagedList):
                    learnt |= before.absorb(value)
        if learnt:
            raise Restage

    def _learn(self, n, name, before, value):
        if is_undefined(value) or value is before:
            return False
        self._learnt[n] = functools.partial(placeholder, value)
        if not is_return_value(name) and name not in self._targets:
            self._unset.append(n)
        return True

    def _as_staged_list(self, name, before, after):
        spec = after.spec if isinstance(after, StagedList) else spec_of(after)
        appended = self._options.get("appends", {}).get(name)
        if appended is None or self._rounds is None or "maximum_iterations" in self._options:
            return StagedList.from_elements(before, spec)
        places = self._rounds * appended + len(before)
        return StagedList.from_elements(before, spec, places)

    def _check_types(self, name, before, after, original):
        check_same_structure(
            name, before, after, "does not have the same nested structure after one iteration."
        )
        for first, second in leaf_pairs(before, after):
            mismatch = type_mismatch(first, second)
            if mismatch:
                _raise_mismatch(name, mismatch, first, second)
            if is_dynamic(first) and not is_opaque(first):
                self._check_shape(name, as_tensor(first), as_tensor(second), original)

    def _check_shape(self, name, before, after, original):
        invariant = self._invariant(original)
        shape = invariant or before.shape
        if self._invariants and invariant is None:
            return  # one of several leaves: tf.while_loop compares it with its own
        if wider_shape(shape, after.shape):
            return
        if invariant is not None:
            raise ValueError(
                f"'{name}' has shape {after.shape} after one iteration, which does not conform "
                f"with the shape invariant {shape}."
            )
        raise ValueError(
            f"'{name}' has shape {shape} before the loop, but shape {after.shape} after one "
            "iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants."
        )

    def _check_iterated(self, iterated):
        if not self._unset or iterated is None:
            return
        names = ", ".join(self._names[n] for n in self._unset)
        tf.debugging.Assert(iterated, [f"loop must iterate at least once to initialize {names}"])


def _one(element):
    return element[0] if len(element) == 1 else element


def _filled(value):
    return value.filled() if isinstance(value, StagedList) and value.places_known else value


def _shape_of(tensor):
    return TensorShape([]) if hasattr(tensor, "_is_tensor_array") else tensor.shape


def _raise_mismatch(name, mismatch, first, second):
    message = f"'{name}' has {mismatch[0]} before the loop, but {mismatch[1]} after one iteration"
    if is_dynamic(first) and is_dynamic(second):
        message += (
            ". A variable must keep its dtype from round to round; start with a value of "
            f"{mismatch[1]}, or convert it back with tf.cast."
        )
    else:
        message += ". Only tensors can change from round to round; let objects be as they are."
    raise TypeError(message)
