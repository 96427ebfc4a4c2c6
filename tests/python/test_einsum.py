"""tf.einsum against NumPy's."""

import numpy as np
import pytest
from arrays import assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

EQUATIONS = [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,kj->ik", [(3, 4), (5, 4)]),
    ("ji,jk->ik", [(4, 3), (4, 5)]),
    ("ij,jk->ki", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("ij->ji", [(3, 4)]),
    ("ba", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ij->i", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("ii", [(4, 4)]),
    ("iij->j", [(3, 3, 2)]),
    ("iji->ij", [(3, 2, 3)]),
    ("iii->i", [(3, 3, 3)]),
    ("i,i->", [(5,), (5,)]),
    ("i,j->ij", [(5,), (3,)]),
    ("i,i->i", [(5,), (5,)]),
    ("ij,ij->ij", [(3, 4), (3, 4)]),
    ("ij,j->ij", [(3, 4), (4,)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("bqhd,bkhd->bhqk", [(2, 3, 4, 5), (2, 6, 4, 5)]),
    ("bhqk,bkhd->bqhd", [(2, 4, 3, 6), (2, 6, 4, 5)]),
    ("abc,cde->abde", [(2, 3, 4), (4, 5, 6)]),
    ("btd,dnh->btnh", [(2, 3, 4), (4, 5, 6)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
    ("...ij,...jk->...ik", [(7, 1, 3, 4), (2, 4, 5)]),
    ("...i,i->...", [(2, 3, 4), (4,)]),
    ("i...->...", [(2, 3, 4)]),
    ("...,...->...", [(3, 1), (4,)]),
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
    ("a,ab,abc->abc", [(2,), (2, 3), (2, 3, 4)]),
    ("ea,fb,abcd,gc,hd->efgh", [(3, 2), (3, 2), (2, 2, 2, 2), (3, 2), (3, 2)]),
    ("ij,kl->", [(2, 3), (4, 2)]),
    ("ij,jk->ik", [(3, 0), (0, 5)]),
    ("ij,jk->ik", [(0, 4), (4, 5)]),
    (",->", [(), ()]),
    (",i->i", [(), (3,)]),
    ("aBc,Bd->acd", [(2, 3, 4), (3, 5)]),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex128", "float16"])
@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=lambda v: str(v)[:30])
def test_as_numpy(equation, shapes, dtype):
    arrays = [sample(dtype, shape, i) for i, shape in enumerate(shapes)]
    wide = [a.astype("f8") if dtype == "float16" else a for a in arrays]
    expected = np.einsum(equation, *wide).astype(dtype)
    rtol = {"float16": 3e-2, "float32": 1e-4}.get(dtype, 1e-11)
    assert_close(tf.einsum(equation, *arrays), expected, rtol=rtol)


def test_diagonals_of_the_output():
    v = sample("float64", (3, 2))
    got = tf.einsum("ij->iij", v).numpy()
    expected = np.zeros((3, 3, 2))
    for i in range(3):
        expected[i, i] = v[i]
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(tf.einsum("i->iii", v[:, 0]).numpy().sum(), v[:, 0].sum())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_equations(data):
    letters = "abcde"
    size = {c: data.draw(st.integers(0, 4), label=c) for c in letters}
    terms = data.draw(st.lists(st.text(letters, max_size=4), min_size=1, max_size=4))
    used = sorted(set("".join(terms)))
    output = data.draw(st.permutations(used)) if used else []
    output = "".join(output[: data.draw(st.integers(0, len(output)))])
    equation = ",".join(terms) + "->" + output
    arrays = [sample("float64", tuple(size[c] for c in t), i) for i, t in enumerate(terms)]
    expected = np.einsum(equation, *arrays)
    assert_close(tf.einsum(equation, *arrays), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("equation", "shapes", "words"),
    [
        ("ij,jk->ik", [(3, 4), (5, 6)], "'j' has size 5"),
        ("ij->ik", [(3, 4)], "no input has"),
        ("ij", [(3,)], "names 2 dimensions"),
        ("ij,jk", [(3, 4)], "operands"),
        ("i+j", [(3, 4)], r"'\+' is not allowed"),
        ("ii->i", [(3, 4)], "every label stands for one size"),
        ("...i->i", [(3, 4)], 'needs "..."'),
        ("...i,...i", [(3, 4), (2, 4)], 'a dimension of "..."'),
    ],
)
def test_refuses(equation, shapes, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.einsum(equation, *[tf.zeros(s) for s in shapes])


def test_arguments():
    a = tf.ones([2, 3])
    assert tf.linalg.einsum("ij->ji", a, optimize="optimal", name="x").shape == (3, 2)
    with pytest.raises(TypeError, match="invalid keyword"):
        tf.einsum("ij->ji", a, foo=1)
    with pytest.raises(ValueError, match="optimize"):
        tf.einsum("ij->ji", a, optimize="fast")


def test_greedy_order_needs_little_memory():
    n = 500
    a, b, v = tf.ones([n, n]), tf.ones([n, n]), tf.ones([n])
    tf.memory.reset_peak()
    before = tf.memory.stats().live
    tf.einsum("ij,jk,k->i", a, b, v)
    grown = tf.memory.stats().peak - before
    assert grown < n * n * 4 / 2  # from the right: no product of two matrices is made
