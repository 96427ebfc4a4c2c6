"""An ``if`` whose condition the graph computes: ``tf.cond`` over what its branches assign."""

from __future__ import annotations

import contextlib
import sys

import tidemark as tf
from tidemark.autograph import _staging
from tidemark.autograph._context import current_scope, negated_by
from tidemark.autograph._lists import StagedList, spec_of
from tidemark.autograph._state import (
    Restage,
    State,
    check_same_structure,
    copied,
    described,
    grew,
    is_dynamic,
    is_flag,
    is_replaced,
    is_return_value,
    leaf_pairs,
    placeholder,
    type_mismatch,
    with_read_variables,
)
from tidemark.autograph._variables import is_undefined

_MAIN, _ELSE = 0, 1
_BRANCH = ("main", "else")


def staged_if(test, body, orelse, get_state, set_state, names, nouts):
    """Builds the statement; its first ``nouts`` variables are used after it."""
    test, negated = _checked(test, "if statement"), negated_by(test)
    initial = get_state()
    names = names[:nouts]
    statement = _If(names, initial[:nouts], negated)

    def branch(function, which):
        def build():
            set_state(copied(statement.initial) + copied(initial[nouts:]))
            function()
            return statement.ended(which, get_state()[:nouts])

        return build

    try:
        values = statement.run(test, branch(body, _MAIN), branch(orelse, _ELSE))
    except BaseException:
        set_state(initial)
        raise
    set_state(values + initial[nouts:])


def staged_expression(test, if_true, if_false, text):
    """Builds a conditional expression, known by its condition's text."""
    test = _checked(test, "conditional expression")
    statement = _If((text,), (None,))

    def branch(function, which):
        return lambda: statement.ended(which, (function(),))

    return statement.run(test, branch(if_true, _MAIN), branch(if_false, _ELSE))[0]


def _checked(test, what):
    if test.dtype != tf.bool or test.shape.rank not in (None, 0):
        raise ValueError(
            f"condition of {what} expected to be `tf.bool` scalar, got {described(test)}; compare "
            "it with something; to check for None, use `is not None`; to ask about all elements, "
            "use tf.reduce_all or tf.reduce_any"
        )
    return tf.convert_to_tensor(test)


class _If:
    """What is known of a statement while its branches are built, one after the other."""

    def __init__(self, names, initial, negated=None):
        self._names = names
        self._negated = negated  # the flag of "if not flag"
        self.initial = tuple(initial)
        self._ends = {}
        self._filled = {}  # variable → what stands for it in the branch that does not assign it
        self._read = set()  # numbers of what a branch leaves a tf.Variable and the other a tensor
        self._state = None
        self._learnt = None  # a list that has to be a staged one: its number, elements and spec

    def run(self, test, main, orelse):
        while True:
            self._ends.clear()
            with contextlib.suppress(Restage):
                tensors = _staging.cond(test, main, orelse)
                if tensors is None:
                    tensors = ()
                elif not isinstance(tensors, (list, tuple)):
                    tensors = (tensors,)
                return self._with_known_flags(self._state.rebuilt(list(tensors)))
            if self._learnt is not None:  # made here, outside of the branches
                n, elements, spec = self._learnt
                self._replace(n, StagedList.from_elements(elements, spec))
                self._learnt = None

    def ended(self, which, values):
        """Called at the end of a branch with what its variables are; gives the tensors."""
        values = tuple(self._completed(n, value) for n, value in enumerate(values))
        self._ends[which] = values
        if len(self._ends) == 2:
            for n in range(len(values)):
                self._compare(n, self._ends[_MAIN][n], self._ends[_ELSE][n])
        self._state = State(values)
        return tuple(self._state.tensors)

    def _completed(self, n, value):
        if is_undefined(value) and n in self._filled:
            return placeholder(self._filled[n])
        if isinstance(value, list) and isinstance(self.initial[n], StagedList):
            return StagedList.from_elements(value, self.initial[n].spec)
        return with_read_variables(value) if n in self._read else value

    def _with_known_flags(self, values):
        """Flags that both branches leave the same are known now, whichever branch runs."""
        known = list(values)
        for n, name in enumerate(self._names):
            main, orelse = self._ends[_MAIN][n], self._ends[_ELSE][n]
            if not is_flag(name) or not isinstance(main, bool):
                continue
            # Of "if not flag: flag = True" the other branch has it set already.
            if main is orelse or (main and orelse is not None and orelse is self._negated):
                known[n] = main
        return tuple(known)

    def _compare(self, n, main, orelse):
        name = self._names[n]
        if is_undefined(main) or is_undefined(orelse):
            self._one_sided(n, name, main, orelse)
            return
        for which, value, other in ((_MAIN, main, orelse), (_ELSE, orelse, main)):
            if value is None and other is not None:
                raise ValueError(
                    f"'{name}' is None at the end of the {_BRANCH[which]} branch. Give it a value "
                    "of the same type in both branches of a condition on a tensor."
                )
        if self._restage_list(n, main, orelse):
            raise Restage
        if is_replaced(main, orelse) or is_replaced(orelse, main):
            self._read.add(n)
            raise Restage
        check_same_structure(
            name, main, orelse, "must have the same nested structure in the main and else branches:"
        )
        for first, second in leaf_pairs(main, orelse):
            mismatch = type_mismatch(first, second)
            if mismatch:
                _raise_mismatch(name, mismatch, first, second)
            if isinstance(first, StagedList):
                first.absorb(second)
                second.absorb(first)

    def _one_sided(self, n, name, main, orelse):
        if is_undefined(main) and is_undefined(orelse):
            return
        which = _MAIN if is_undefined(main) else _ELSE
        value = orelse if which == _MAIN else main
        if is_return_value(name):
            _note_missing_return(which)
            self._filled[n] = value  # a flag says whether it counts
            raise Restage
        raise ValueError(
            f"'{name}' must also be initialized in the {_BRANCH[which]} branch. Assign it before "
            "the if statement, or in both branches."
        )

    def _restage_list(self, n, main, orelse):
        """Makes a list that the branches leave with different lengths a staged one."""
        initial = self.initial[n]
        if not isinstance(initial, list) or not (grew(initial, main) or grew(initial, orelse)):
            return False
        both = isinstance(main, list) and isinstance(orelse, list)
        if both and len(main) == len(orelse):
            return False
        spec = None
        for value in (main, orelse):
            given = value.spec if isinstance(value, StagedList) else spec_of(value)
            if given is not None:
                spec = given if spec is None else spec.merged(given)
        self._learnt = (n, initial, spec)
        return True

    def _replace(self, n, value):
        self.initial = (*self.initial[:n], value, *self.initial[n + 1 :])


def _note_missing_return(which):
    """A later statement may still return a value; if none does, the function's end says so."""
    scope = current_scope()
    if scope is None or scope.loops:
        return
    frame = sys._getframe()
    while frame is not None and "ag__" not in frame.f_code.co_freevars:
        frame = frame.f_back
    line = "" if frame is None else f" (the condition in line {frame.f_lineno})"
    scope.missing_return = (
        f"the {_BRANCH[which]} branch must also have a return statement{line}. A condition on a "
        "tensor that returns a value in one branch must return one in both, or later."
    )


def _raise_mismatch(name, mismatch, first, second):
    message = f"'{name}' has {mismatch[0]} in the main branch, but {mismatch[1]} in the else branch"
    if is_dynamic(first) and is_dynamic(second):
        message += ". Both must have the same dtype; convert one of them with tf.cast."
    else:
        message += (
            ". Which of two Python objects is meant cannot be decided by a tensor; use tensors, "
            "or decide outside of the condition."
        )
    raise TypeError(message)
