"""Where a program adds to what grows: read from its source."""

import argparse
import linecache
import types

import pytest
from tidemark._explain import chains, links, source, to_change


@pytest.fixture
def written(request):
    """Gives a program a path under which its lines are found."""

    def write(text):
        path = f"<{request.node.name}>"
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        source.tree_of.cache_clear()
        return path

    yield write
    linecache.clearcache()


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("bag = Bag()\nsetattr(bag, 'a', x)\n", "bag", 2),
        ("model = Model()\nmodel.__dict__['a'] = x\n", "model", 2),
        ("model = Model()\nvars(model)['a'] = x\n", "model", 2),
        ("report = Mock()\nfor i in r:\n    report(i, x)\n", "report", 3),
    ],
)
def test_an_object_is_given_something(written, text, name, line):
    assert source.line_of_giving(written(text), name) == line


def test_parts_of_a_container_have_names_of_their_own(written):
    path = written(
        "t = {}\nfor i in r:\n    b = t.setdefault(i, {})\n    b[i] = x\nc = t\nc[1] = 2\n"
    )
    assert source.lines_adding(path, "t") == [3, 4]


def test_what_is_stored_as_it_is_comes_before_what_is_computed_of_it(written):
    path = written("t['n'][i] = float(mean(x))\nt['x'][i] = x\nt.append((i, [x]))\n")
    assert [source.names_added(path, line)[0] & {"x"} for line in (1, 2, 3)] == [
        set(),
        {"x"},
        {"x"},
    ]
    assert "x" in source.names_added(path, 1)[1]


def test_a_call_that_is_handed_what_a_line_makes(written):
    path = written(
        "def f():\n    x = made()\n    keep(x)\n\nx = made()\nprint(x)\nat.end(save, x)\n"
    )
    assert source.line_of_handing_over(path, 2) == (3, "keep")
    assert source.line_of_handing_over(path, 5) == (0, "")  # the function's call has that name, too
    path = written("x = made()\nkeep(x)\nkeep(x + 1)\n")
    assert source.line_of_handing_over(path, 1) == (0, "")  # which of them is not known


def test_where_a_cache_is_put_around_a_function(written):
    path = written("class A:\n    def __init__(self):\n        self.g = lru_cache()(self.make)\n\n"
                   "    def make(self, n):\n        return n\n")  # fmt: skip
    assert source.line_of_cache(path, "make", 5) == 3
    path = written("@functools.cache\ndef make(n):\n    return n\n")
    assert source.line_of_cache(path, "make", 1) == 1


def test_a_cycle_of_a_librarys_objects_is_no_doing_of_the_program():
    class Node:
        pass

    of_a_library, own = argparse.Namespace(), Node()
    of_a_library.me, own.me = [of_a_library], own
    assert not links.leads_to_the_program(of_a_library)
    assert links.leads_to_the_program(own)
    of_a_library.call = lambda: own
    assert links.leads_to_the_program(of_a_library)
    own.me = of_a_library.me = None


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("class N:\n    def __init__(self, x, past):\n        self.x, self.past = x, past\n"
         "first = N(0, None)\nnow = N(1, first)\n", [5]),
        ("@dataclass\nclass N:\n    x: int\n    past: object = None\n"
         "a = N(0)\nb = N(1, past=a)\n", [6]),
        ("class N:\n    def __init__(self):\n        self.past = []\nN()\n", []),
    ],
)  # fmt: skip
def test_where_objects_are_made_with_something_of_their_own(written, text, lines):
    assert source.lines_of_making(written(text), "N", "past") == lines


def test_a_method_is_compiled_where_it_is_given_to_the_function(written):
    path = written(
        "class T:\n    def step(self):\n        pass\n"
        "    def fit(self):\n        return tf.function(self.step)\n"
    )
    assert source.line_of_compiling(path, 2, "step") == 5


def test_what_is_to_be_closed_is_changed_where_it_is_opened():
    opened = links.Link("Session opened", links.OPENED, "Session", __file__, 7)
    kept = links.Link('list "kept"', "list", "kept", __file__, 9, True)
    chain = chains.Chain(((kept, 40), (opened, 0)), kept)
    finding = types.SimpleNamespace(file=__file__, line=3, chain=chain, made_at=())
    additions = types.SimpleNamespace(line=lambda *_: (__file__, 9))
    assert to_change.find(finding, [], True, additions) == (__file__, 7, chain)
    finding.chain = chains.Chain(((kept, 40),), kept)
    assert to_change.find(finding, [], True, additions)[1] == 9
