"""tf.strings against Python's own str, bytes and re; data/tf_text.json has TensorFlow's answers."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidemark._tidemark import call

import tidemark as tf

texts = st.lists(st.text(max_size=20), max_size=8)
raw_bytes = st.lists(st.binary(max_size=20), max_size=8)


def tensor(values):
    return tf.constant(values, dtype=tf.string, shape=[len(values)])


def rows(values, splits):
    values, splits = list(values.numpy()), splits.numpy()
    return [values[a:b] for a, b in zip(splits[:-1], splits[1:], strict=True)]


@given(texts)
def test_lengths(values):
    assert list(tf.strings.length(tensor(values)).numpy()) == [len(v.encode()) for v in values]
    counted = tf.strings.length(tensor(values), unit="UTF8_CHAR")
    assert list(counted.numpy()) == [len(v) for v in values]


@given(texts, st.integers(-5, 5), st.integers(0, 30))
def test_substr_of_characters(values, pos, length):
    values = [value + "abcde" for value in values]
    parts = tf.strings.substr(tensor(values), pos, length, unit="UTF8_CHAR").numpy()
    begin = [pos if pos >= 0 else len(v) + pos for v in values]
    wanted = [v[b : b + length].encode() for v, b in zip(values, begin, strict=True)]
    assert list(parts) == wanted


@given(raw_bytes)
def test_split_on_space_as_python(values):
    values = [value.replace(b"\x1c", b" ") for value in values]
    assert rows(*call("string_split", (tensor(values),), {})) == [v.split() for v in values]
    limited = call("string_split", (tensor(values),), {"maxsplit": 1})
    assert rows(*limited) == [v.split(None, 1) for v in values]


@given(raw_bytes, st.binary(min_size=1, max_size=2), st.integers(-1, 3))
def test_split_on_separator_as_python(values, separator, most):
    attrs = {"sep": separator.decode("latin-1"), "maxsplit": most}
    wanted = [v.split(attrs["sep"].encode(), most) for v in values]
    assert rows(*call("string_split", (tensor(values),), attrs)) == wanted


@given(texts)
def test_strip_lower_upper(values):
    given_bytes = [value.encode() for value in values]
    assert list(tf.strings.strip(tensor(values)).numpy()) == [v.strip() for v in given_bytes]
    assert list(tf.strings.lower(tensor(values)).numpy()) == [v.lower() for v in given_bytes]
    assert list(tf.strings.upper(tensor(values)).numpy()) == [v.upper() for v in given_bytes]


def test_unicode_case():
    assert tf.strings.lower("ÀÉŁΣЖ", encoding="utf-8").numpy().decode() == "àéłσж"
    assert tf.strings.upper("àéłσжß", encoding="utf-8").numpy().decode() == "ÀÉŁΣЖSS"
    malformed = tf.strings.lower(b"A\xffB", encoding="utf-8")
    assert malformed.numpy() == "a\ufffdb".encode()


@given(st.lists(st.floats(allow_nan=False), max_size=8))
def test_numbers_there_and_back(values):
    text = [repr(value) for value in values]
    numbers = tf.strings.to_number(tensor(text), tf.float64).numpy()
    assert list(numbers) == values


@given(st.text(alphabet=" +-.0123456789eEinfatyxXab", max_size=12))
def test_to_number_takes_what_python_takes(text):
    try:
        wanted = float(text)
    except ValueError:
        wanted = None
    if "x" in text.lower() or "_" in text:
        return
    try:
        got = float(tf.strings.to_number(text, tf.float64))
    except tf.errors.InvalidArgumentError:
        got = None
    assert got == wanted or (got != got and wanted != wanted)


@given(raw_bytes)
def test_decode_as_python(values):
    points, starts, splits = call("unicode_decode", (tensor(values),), {"input_encoding": "UTF-8"})
    wanted = [[ord(c) for c in v.decode("utf-8", "replace")] for v in values]
    assert rows(points, splits) == wanted
    for row, begins in zip(values, rows(starts, splits), strict=True):
        assert all(0 <= at < len(row) for at in begins)


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
@given(values=texts)
def test_transcode_as_python(encoding, values):
    wanted = [v.encode(encoding.replace("-BE", "BE").replace("-16", "-16-").replace("-32", "-32-"))
              for v in values]  # fmt: skip
    there = tf.strings.unicode_transcode(tensor(values), "UTF-8", encoding)
    assert list(there.numpy()) == wanted
    back = tf.strings.unicode_transcode(there, encoding, "UTF-8")
    assert list(back.numpy()) == [v.encode() for v in values]


@given(st.lists(st.text(alphabet="abc ", max_size=12), max_size=5), st.sampled_from([
    ("a", "x"), ("[ab]+", "<\\0>"), ("(a)(b)?", "\\2\\1"), ("", "-"), ("b*", "text"), ("c", ""),
]))  # fmt: skip
def test_regex_replace_as_python(values, case):
    pattern, rewrite = case
    got = tf.strings.regex_replace(tensor(values), pattern, rewrite).numpy()
    python_rewrite = re.sub(r"\\(\d)", r"\\g<\1>", rewrite)
    if pattern == "b*":  # Python counts an empty match behind another one
        return
    assert [g.decode() for g in got] == [re.sub(pattern, python_rewrite, v) for v in values]


def test_regex_errors_and_cache():
    for i in range(40):
        tf.strings.regex_full_match(["a"], f"a{{{i}}}")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        tf.strings.regex_replace("a", "(", "")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be scalar"):
        tf.strings.regex_full_match("a", ["a", "b"])
    line = next(x for x in tf.memory.report().splitlines() if "regular expressions" in x)
    assert line.split()[2] == "8"  # entries


def test_hashes_of_every_length():
    """Values of TensorFlow 2.21."""
    text = "".join(chr(33 + i % 90) for i in range(300))
    values = [text[:n] for n in (0, 1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 128, 129, 300)]
    fast = tf.strings.to_hash_bucket_fast(values, 1 << 62).numpy()
    strong = tf.strings.to_hash_bucket_strong(values, 1 << 62, [7, -3]).numpy()
    plain = tf.strings.to_hash_bucket(values, 1 << 62).numpy()
    assert [
        int(fast.sum() % 1000003),
        int(strong.sum() % 1000003),
        int(plain.sum() % 1000003),
    ] == SUMS


SUMS = [159121, 524016, 814722]


def test_bad_input():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.length([1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="split value"):
        call("string_ngrams", (tensor(["a"]), tf.constant([0, 5])), {"ngram_widths": [1]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="ngram widths"):
        call("string_ngrams", (tensor(["a"]), tf.constant([0, 1])), {"ngram_widths": [0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most"):
        tf.strings.as_string([1], width=1 << 40)
    with pytest.raises(tf.errors.InvalidArgumentError, match="errors must be"):
        tf.strings.unicode_transcode("a", "UTF-8", "UTF-8", errors="x")


def test_texts_beyond_the_limit_are_refused_before_they_are_counted():
    words = tf.constant(["a"] * 50_000)
    in_use = tf.memory.stats().live + tf.memory.stats().planned  # what other tests left counts
    before = tf.memory.set_limit(in_use + (64 << 20))
    try:
        start = time.process_time()
        for values in (words, tf.range(50_000)):
            with pytest.raises(tf.errors.ResourceExhaustedError):
                tf.strings.as_string(values, width=1 << 20)
        assert time.process_time() - start < 5  # 50 GB of blanks
    finally:
        tf.memory.set_limit(before)
    assert tf.strings.as_string(["a"], width=100_000).numpy()[0] == b" " * 99_999 + b"a"


def test_long_formatted_numbers():
    wide = tf.strings.as_string([1.5, -2.0], width=100, precision=3).numpy()
    assert list(wide) == [b"%100.3f" % 1.5, b"%100.3f" % -2.0]
    assert tf.strings.as_string(tf.constant(1e300, tf.float64)).numpy() == b"%f" % 1e300


def test_strings_are_added_and_chosen_in_functions():
    @tf.function
    def twice(x):
        return x + x, tf.where(tf.equal(x, "b"), x, "none")

    both, chosen = twice(tf.constant(["a", "b"]))
    assert both.numpy().tolist() == [b"aa", b"bb"] and chosen.numpy().tolist() == [b"none", b"b"]
    assert twice(tf.constant("c"))[0].numpy() == b"cc"
