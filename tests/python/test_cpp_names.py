"""docs/cpp-names.md says which of TensorFlow's functions have their names in C++."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import gen_cpp_names  # noqa: E402

pytestmark = pytest.mark.skipif(not gen_cpp_names.OPS.exists(), reason="needs the build folder")


def test_the_page_is_up_to_date():
    assert gen_cpp_names.PAGE.read_text() == gen_cpp_names.page(), "run tools/gen_cpp_names.py"


def test_declarations_are_found_in_their_namespaces():
    text = """
    namespace tidemark {
    inline constexpr DType half = DType::float16, int8 = DType::int8;
    struct Options { int call(int); };
    template <class T> [[gnu::noinline]] Tensor constant(T value) { return inner(value); }
    namespace nn { using tidemark::constant; TIDEMARK_API Tensor relu(const Tensor& x = {}); }
    }
    """
    assert gen_cpp_names.declared(text) == {
        ("tidemark", "half"), ("tidemark", "int8"), ("tidemark", "constant"),
        ("tidemark::nn", "constant"), ("tidemark::nn", "relu"),
    }  # fmt: skip


def test_names_that_are_not_of_cpp_are_tensorflows():
    theirs = {
        f"{module}.{name}".removeprefix("tf.")
        for module, names in gen_cpp_names.recorded().items()
        for name in names
    }
    for names in gen_cpp_names.NOT_OF_CPP.values():
        assert set(names.split()) <= theirs
