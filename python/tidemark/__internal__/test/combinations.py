"""``tf.__internal__.test.combinations``: one test written, run for every combination of arguments.

class Sums(tf.test.TestCase, absl.testing.parameterized.TestCase):
    @combinations.generate(combinations.combine(mode=["eager", "graph"], size=[0, 3]))
    def test_ones(self, size):                      # four tests
        self.assertEqual(size, self.evaluate(tf.reduce_sum(tf.ones(size))))
"""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import itertools
import re
import types

import tidemark as tf
from tidemark.__internal__.eager_context import eager_mode

__all__ = ["NamedObject", "OptionalParameter", "ParameterModifier", "TestCombination", "combine",
           "generate", "times"]  # fmt: skip


class TestCombination:
    """What is done around a generated test, by what its arguments are."""

    __test__ = False  # no test, whatever its name begins with

    def should_execute_combination(self, kwargs):
        """Whether to run it, and if not, why."""
        return True, None

    def parameter_modifiers(self):
        """What changes the arguments before the test sees them."""
        return []

    def context_managers(self, kwargs):
        """The contexts that it runs in."""
        return []


class ParameterModifier:
    """Changes arguments of a generated test; modifiers of one class and parameter are one."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name=None):
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs, requested_parameters):
        """The arguments that are others, by name."""
        return {}

    def __eq__(self, other):
        if self is other:
            return True
        same_class = type(self) is type(other)
        return same_class and self._parameter_name == other._parameter_name

    def __hash__(self):
        return hash(self._parameter_name) if self._parameter_name else id(self)


class OptionalParameter(ParameterModifier):
    """A parameter that tests need not have: it is for what is done around them."""

    def modified_arguments(self, kwargs, requested_parameters):
        if self._parameter_name in requested_parameters:
            return {}
        return {self._parameter_name: self.DO_NOT_PASS_TO_THE_TEST}


class NamedObject:
    """A value with a name that the names of tests can hold."""

    def __init__(self, name, obj):
        self._name, self._obj = name, obj

    def __getattr__(self, name):
        return getattr(self._obj, name)

    def __call__(self, *args, **kwargs):
        return self._obj(*args, **kwargs)

    def __iter__(self):
        return iter(self._obj)

    def __repr__(self):
        return self._name


def combine(**kwargs):
    """Every combination of the values listed, in the order of the parameters' names."""
    names = sorted(kwargs)
    lists = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [collections.OrderedDict(zip(names, row, strict=True))
            for row in itertools.product(*lists)]  # fmt: skip


def times(*combined):
    """Every combination of one with each of the others, which are about other parameters."""
    out = []
    for row in itertools.product(*combined):
        names = [name for one in row for name in one]
        if len(set(names)) < len(names):
            raise ValueError(f"Keys need to not overlap: {', '.join(names)}")
        out.append(collections.OrderedDict(item for one in row for item in one.items()))
    return out


def _generate(combinations, test_combinations=()):
    """A decorator of tests, and of classes of tests, that runs each for every combination."""
    from absl.testing import parameterized  # tests alone need it

    named = [collections.OrderedDict(one, testcase_name=_name_of(one)) for one in combinations]

    def several(test):
        return parameterized.named_parameters(*named)(_surrounded(test, test_combinations))

    def decorator(test_or_class):
        if not isinstance(test_or_class, type):
            return several(test_or_class)
        for name, value in list(vars(test_or_class).items()):
            if name.startswith("test") and isinstance(value, types.FunctionType):
                delattr(test_or_class, name)
                for number, one in enumerate(several(value)):
                    setattr(test_or_class, _method_name(one, name, number), one)
        return test_or_class

    return decorator


def _method_name(test, name, number):
    found = getattr(test, "__name__", name)
    return f"{name}{number}" if found == name else found


def _name_of(combination):
    parts = []
    for number, (name, value) in enumerate(combination.items()):
        # An address would be another in each run.
        text = re.sub("0[xX][0-9a-fA-F]+", str(number), str(value))
        parts += [name, text]
    return "_test" + "".join("_" + "".join(filter(str.isalnum, part)) for part in parts)


def _surrounded(test, test_combinations):
    """The test with what is done around it."""
    requested = [name for name in inspect.getfullargspec(test).args if name != "self"]

    def run(self, **given):
        reasons = [one.should_execute_combination(dict(given)) for one in test_combinations]
        reasons = [f" - {reason}" for runs, reason in reasons if not runs]
        if reasons:
            self.skipTest("\n".join(reasons))
        with contextlib.ExitStack() as around:
            for one in test_combinations:
                for context in one.context_managers(dict(given)):
                    around.enter_context(context)
            test(self, **_changed(given, requested, test_combinations))

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


def _changed(given, requested, test_combinations):
    """The arguments that the test gets, which must be those that it takes."""
    passed = dict(given)
    modifiers = (one for all_of in test_combinations for one in all_of.parameter_modifiers())
    for modifier in dict.fromkeys(modifiers):
        for name, value in modifier.modified_arguments(dict(given), requested).items():
            if value is ParameterModifier.DO_NOT_PASS_TO_THE_TEST:
                passed.pop(name, None)
            else:
                passed[name] = value
    absent = [name for name in requested if name not in passed]
    if absent:
        raise ValueError(f"The test requires parameters whose arguments were not passed: {absent}.")
    unknown = [name for name in passed if name not in requested]
    if unknown:
        raise ValueError(f"The test does not take parameters that were passed: {unknown}.")
    return passed


class _EagerOrGraph(TestCombination):
    """``mode="eager"`` or ``mode="graph"``: where the ops of the test go."""

    def context_managers(self, kwargs):
        mode = kwargs.get("mode")
        if mode not in (None, "eager", "graph"):
            raise ValueError(
                f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}."
            )
        if mode is None:
            return []
        return [eager_mode()] if mode == "eager" else [tf.Graph().as_default()]

    def parameter_modifiers(self):
        return [OptionalParameter("mode")]


class _Version(TestCombination):
    """``tf_api_version=1`` or ``2``: the behaviour that the test is of."""

    def should_execute_combination(self, kwargs):
        version, is_new = kwargs.get("tf_api_version"), tf.__internal__.tf2.enabled()
        if version in (1, 2) and (version == 2) != is_new:
            return False, f"Skipping a TF{version} test when TF2 is {'on' if is_new else 'off'}."
        return True, None

    def parameter_modifiers(self):
        return [OptionalParameter("tf_api_version")]


generate = functools.partial(_generate, test_combinations=(_EagerOrGraph(), _Version()))
