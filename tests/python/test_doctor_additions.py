"""Lines after which a container has more are noted while they run, whatever they store with."""

import collections
import queue
import sys
import threading
import types

import numpy as np
import pytest
from tidemark._explain import chains, links
from tidemark._explain.additions import Additions
from tidemark._explain.keeping import Root
from tidemark._explain.looking import _Lines
from tidemark._house.lines import Lines

LINES = pytest.mark.parametrize("lines", [Lines, _Lines], ids=["of Python", "of the runtime"])
SORT = ("train.py:1", "exp", "value")


def chain_of(path, names):
    """A way from a local variable, on which the innermost thing grows."""
    told = tuple(links.links_of(path, names, root_of(path)))
    return chains.Chain(told, told[-1][0])


def root_of(path):
    return Root("local", "kept", path[0], "f", __file__)


def watched(lines, path, names, run, rounds=3):
    """Watches a way while `run` is called; the line that was noted, counted from its own."""
    additions = Additions(lines())
    tell = (path, names[1:], root_of(path))
    additions.choose([(SORT, 100, lambda: tell)])
    additions.begin()
    try:
        for number in range(rounds):
            run(number)
    finally:
        additions.end()
    file, line = additions.line([SORT], chain_of(path, names))
    assert sys.gettrace() is None
    assert file in ("", __file__)
    return line - run.__code__.co_firstlineno if line else None


class Thing:
    pass


def kept_list():
    kept = []

    def run(number):
        x = (number, Thing())
        kept.append(x)

    return [kept], [None], run, 2


def kept_dict():
    kept = {}

    def run(number):
        kept.update({number: Thing()})

    return [kept], [None], run, 1


def kept_set():
    kept = set()

    def run(number):
        thing = Thing()
        kept.__ior__({thing})

    return [kept], [None], run, 2


def kept_deque():
    kept = collections.deque(maxlen=None)

    def run(number):
        kept.extendleft(
            [Thing()]
        )  # fmt: skip

    return [kept], [None], run, 1


def in_a_library():
    kept = queue.Queue()

    def run(number):
        kept.put(Thing())

    return [kept, kept.queue], [None, "queue"], run, 1


def simple_queue():
    kept = queue.SimpleQueue()

    def run(number):
        kept.put(Thing())

    return [kept], [None], run, 1


def attributes():
    kept = types.SimpleNamespace()

    def run(number):
        name = f"part{number}"
        setattr(kept, name, Thing())

    return [kept], [None], run, 2


def objects_of_an_array():
    kept = np.zeros(8, dtype=[("loss", "f4"), ("state", object)])

    def run(number):
        kept["loss"][number] = number + 1
        kept["state"][number] = Thing()

    return [kept], [None], run, 2


def made_anew():
    owner = {"past": ()}

    def run(number):
        x = Thing()
        owner["past"] = (*owner["past"], x)

    return [owner, owner["past"]], [None, "past"], run, 2


def in_another_function():
    kept = []

    def add(thing):
        kept.append(thing)

    def run(number):
        thing = Thing()
        add(thing)

    return [kept], [None], run, -2


def numbers_beside():
    kept = []

    def run(number):
        kept.append(float(number))
        kept.append(("loss", {"mean": 0.5}))
        kept.append(Thing())

    return [kept], [None], run, 3


ALL = [
    kept_list, kept_dict, kept_set, kept_deque, in_a_library, simple_queue, attributes,
    objects_of_an_array, made_anew, in_another_function, numbers_beside,
]  # fmt: skip


@LINES
@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_the_line_that_adds(make, lines):
    path, names, run, line = make()
    assert watched(lines, path, names, run) == line


@LINES
def test_nothing_is_kept_after_the_watch(lines):
    kept, additions = [Thing()], Additions(lines())
    before = sys.getrefcount(kept)
    additions.choose([(SORT, 100, lambda kept=kept: ([kept], [], root_of([kept])))])
    assert sys.getrefcount(kept) > before
    additions.begin()
    additions.end()
    assert sys.getrefcount(kept) == before


@LINES
def test_what_has_not_grown_is_not_watched(lines):
    kept, additions = [Thing()], Additions(lines())
    way = (SORT, 100, lambda: ([kept], [], root_of([kept])))
    additions.choose([way])
    additions.choose([way])
    additions.begin()
    assert sys.gettrace() is None


@LINES
def test_a_trace_of_the_programs_own_is_left_alone(lines):
    kept, additions = [Thing()], Additions(lines())

    def own(frame, event, arg):
        return None

    additions.choose([(SORT, 100, lambda: ([kept], [], root_of([kept])))])
    sys.settrace(own)
    try:
        additions.begin()
        additions.end()
        assert sys.gettrace() is own
    finally:
        sys.settrace(None)


@LINES
def test_a_watch_that_another_thread_ends_lets_go_at_the_next_line(lines):
    kept, additions = [Thing()], Additions(lines())
    before = sys.getrefcount(kept)
    additions.choose([(SORT, 100, lambda kept=kept: ([kept], [], root_of([kept])))])
    additions.begin()
    other = threading.Thread(target=additions.end)
    other.start()
    other.join()
    assert sys.gettrace() is None
    assert sys.getrefcount(kept) == before


def work_of_another_thread():
    turn, done, kept = threading.Semaphore(0), threading.Semaphore(0), []

    def work():
        while turn.acquire():
            kept.append(Thing())
            done.release()

    threading.Thread(target=work, daemon=True).start()

    def run(number):
        turn.release()
        done.acquire()

    return [kept], [None], run


def test_what_another_thread_may_have_added_is_not_noted():
    assert watched(Lines, *work_of_another_thread()) is None


def test_what_another_thread_adds_is_noted_where_all_are_traced():
    path, names, run = work_of_another_thread()
    assert watched(_Lines, path, names, run, rounds=6) == -5


def test_what_a_thread_adds_that_began_during_the_watch_is_noted():
    kept = {}

    def work(number):
        thing = Thing()
        kept[number] = thing

    def run(number):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()

    assert watched(_Lines, [kept], [None], run, rounds=6) == -2
    assert threading.gettrace() is None


def test_a_way_that_is_cut_in_the_middle_tells_how_long_it_is():
    class Node:
        def __init__(self, past):
            self.past = past

    newest = None
    for _ in range(20):
        newest = Node(newest)
    path, names = [newest], [None]
    while path[-1].past is not None:
        path.append(path[-1].past)
        names.append("past")
    whole, part = (
        links.links_of(path, names, root_of(path), left_out)[-1][1] for left_out in (0, 60)
    )
    assert part == 4 * whole


@LINES
def test_rounds_of_a_loop_within_another_are_counted(lines):
    kept, additions = [], Additions(lines())
    begin = sys._getframe().f_lineno
    additions.choose([(SORT, 100, lambda: ([kept], [], root_of([kept])))])
    additions.begin()
    for number in range(4):
        for _ in "abc":
            number += 1
    additions.end()
    assert additions.trips((__file__, begin + 4), (__file__, begin + 3)) == 3
    assert additions.trips((__file__, begin + 3), (__file__, begin + 4)) == 0
