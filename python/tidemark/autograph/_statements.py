"""``if``, ``while`` and ``for``: Python's where everything is known, staged where it is not."""

from __future__ import annotations

from tidemark.autograph import _staging
from tidemark.autograph._context import inside_loop
from tidemark.autograph._iteration import handler_of
from tidemark.autograph._staged_if import staged_if
from tidemark.autograph._staged_loop import staged_while


def if_stmt(test, body, orelse, get_state, set_state, names, nouts):
    """``if test: body() else: orelse()``.

    ``get_state`` and ``set_state`` read and write the variables in ``names``, of which the first
    ``nouts`` are used after the statement.
    """
    if _staging.is_staged(test):
        staged_if(test, body, orelse, get_state, set_state, names, nouts)
    elif test:
        body()
    else:
        orelse()


def while_stmt(test, body, get_state, set_state, names, options):
    """``while test(): body()``.

    The loop is staged from the round on in which its condition becomes a tensor, as that of
    ``while True`` does after a break that depends on one.
    """
    while True:
        goes_on = test()
        if _staging.is_staged(goes_on):
            staged_while(test, body, get_state, set_state, names, options)
            return
        if not goes_on:
            return
        with inside_loop():
            body()


def for_stmt(iterated, extra_test, body, get_state, set_state, names, options):
    """``for target in iterated: body(target)``, while ``extra_test()`` holds if there is one."""
    handler = handler_of(iterated)
    if handler is not None:
        if extra_test is not None:
            goes_on = extra_test()
            if not _staging.is_staged(goes_on) and not goes_on:
                return
        handler(iterated, extra_test, body, get_state, set_state, names, options)
        return
    with inside_loop():
        if extra_test is None:
            for target in iterated:
                body(target)
        else:
            _python_for(iterated, extra_test, body, get_state, set_state, names)


def _python_for(iterated, extra_test, body, get_state, set_state, names):
    """A loop that may end early."""
    for target in iterated:
        goes_on = extra_test()
        if _staging.is_staged(goes_on):
            # A break that depends on a tensor: the elements are known, so their rounds are too.
            _guarded(goes_on, lambda: body(target), get_state, set_state, names)  # noqa: B023
        elif goes_on:
            body(target)
        else:
            return


def _guarded(goes_on, body, get_state, set_state, names):
    staged_if(goes_on, body, lambda: None, get_state, set_state, names, len(names))
