"""AutoGraph: code that nobody wrote for it, from Python's library, computes the same converted."""

import configparser
import difflib
import fractions
import heapq
import json.decoder
import json.scanner
import shlex
import statistics
import string
import subprocess
import sys
import textwrap

import pytest
from tidemark.autograph._impl import converted

pytestmark = pytest.mark.unwatched


def wrapped_text():
    return textwrap.fill("the quick brown fox jumps over the lazy dog " * 5, 30)


def numbers():
    return [
        statistics.median([3, 1, 2]),
        statistics.pstdev([1.0, 2.5, 4]),
        statistics.mode("aabbb"),
        statistics.linear_regression([1, 2, 3], [2, 4, 7]),
        fractions.Fraction(3, 7) + fractions.Fraction("1.25"),
        fractions.Fraction(3.14159).limit_denominator(1000),
    ]


def close_words():
    return difflib.get_close_matches("appel", ["ape", "apple", "peach"])


def decoded_json():
    decoder = json.decoder.JSONDecoder()
    decoder.parse_object = json.decoder.JSONObject
    decoder.parse_array = json.decoder.JSONArray
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    return decoder.decode('{"a": [1, 2.5, "x\\n", null, true, {"b": -3e5}], "c": {}}')


def heaps():
    return heapq.nsmallest(3, [5, 1, 4, 2, 3]), heapq.nlargest(2, [5, 1, 4], key=lambda v: -v)


def strings():
    return (
        shlex.split("a 'b c' \"d e\" f\\ g"),
        string.Template("$x and ${y}").substitute(x=1, y=2),
    )


def configuration():
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nx=1\ny=%(x)s2\n")
    return dict(parser["a"]), parser.getint("a", "y")


@pytest.mark.parametrize(
    "program",
    [wrapped_text, numbers, close_words, decoded_json, heaps, strings, configuration],
    ids=lambda program: program.__name__,
)
def test_converted_code_computes_the_same(program):
    assert converted(program)() == program()


PROGRAM = """
import sys
import tidemark as tf

@tf.function
def doubled(x):
    for _ in tf.range(3):
        if tf.reduce_sum(x) > 100:
            break
        x = x * 2.0
    return x

assert float(doubled(tf.constant(1.0))) == 8.0
assert "tidemark.autograph._malt" in sys.modules
assert not any(name.split(".")[0] == "malt" for name in sys.modules)
import malt
import malt.core.converter

assert malt.convert and malt.core.converter.Feature
assert float(doubled(tf.constant([1.0]))[0]) == 8.0
"""


def test_only_the_passes_of_malt_are_loaded_and_others_may_load_all_of_it(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
