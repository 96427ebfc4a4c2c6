"""Functions of tf.io, tf.audio, tf.ragged, tf.quantization, boxes and samples give in C++ what they
give in Python."""

import numpy as np
import pytest
from test_cpp_functions import BOXES, FEW, TWIN, answers_to, compare, numbers, parts, three

import tidemark as tf

pytestmark = pytest.mark.skipif(not TWIN.exists(), reason="build/function_twin is not built")

rg, sp, qt, nn, im = tf.ragged, tf.sparse, tf.quantization, tf.nn, tf.image


def hashes(x):
    return tf.strings.to_hash_bucket_fast(x, 1 << 20) if x.dtype == tf.string else x


def flat(*values):
    """The tensors that sparse and ragged ones are made of, in the twin's order."""
    out = []
    for value in values:
        if hasattr(value, "dense_shape"):
            out += three(value)
        elif hasattr(value, "row_splits"):
            out += [value.values, value.row_splits]
        else:
            out.append(value)
    return [hashes(one) for one in out]


def as_bytes(texts):
    """Rows of bytes, filled up with -1."""
    rows = np.full((len(texts), max(map(len, texts))), -1, np.int32)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = list(text)
    return rows


def as_texts(rows):
    return tf.constant([bytes(int(b) for b in row if b >= 0) for row in rows.numpy()])


# --- files and text ------------------------------------------------------------------------------


def feature(**kinds):
    lists = {"f": "float_list", "i": "int64_list", "s": "bytes_list"}
    types = {"f": tf.train.FloatList, "i": tf.train.Int64List, "s": tf.train.BytesList}
    ((kind, values),) = kinds.items()
    return tf.train.Feature(**{lists[kind]: types[kind](value=values)})


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


EXAMPLES = as_bytes([
    example(f=feature(f=[1, 2.5]), i=feature(i=[3, 1]), v=feature(f=[7, 8]),
            s=feature(s=[b"a", b"bc"]), pairs=feature(i=[1, 2, 3, 4])),
    example(f=feature(f=[-1, 0]), default=feature(i=[9]), s=feature(s=[b""])),
])  # fmt: skip
FEATURES = {
    "f": tf.io.FixedLenFeature([2], tf.float32),
    "default": tf.io.FixedLenFeature([], tf.int64, 7),
    "i": tf.io.VarLenFeature(tf.int64),
    "rows": tf.io.RaggedFeature(tf.string, "s"),
    "s": tf.io.FixedLenSequenceFeature([], tf.string, True),
    "pairs": tf.io.FixedLenSequenceFeature([2], tf.int64, True, -1),
    "x": tf.io.SparseFeature("i", "v", tf.float32, 9),
}


def in_order(parsed):
    return flat(*(parsed[key] for key in sorted(parsed)))


def of_json(said_so):
    texts = [
        '{"features": {"feature": {"f": {"floatList": {"value": [1.5, "2"]}}}}}',
        '{"features": {"feature": {"f": {"float_list": {"value": [0, 4]}},'
        ' "pairs": {"int64List": {"value": ["-9223372036854775807", 4]}},'
        ' "s": {"bytesList": {"value": ["aGk=", "_-8"]}}}}}',
    ]
    batch = tf.io.parse_example(tf.io.decode_json_example(texts), FEATURES)
    return [*in_order(batch), np.ones(2, np.int32), said_so]


def of_examples(rows):
    texts = as_texts(rows)
    batch = tf.io.parse_example(texts, FEATURES)
    return in_order(batch) + in_order(tf.io.parse_single_example(texts[0], FEATURES))


def frames(features):
    return tf.train.FeatureList(feature=features)


def sequence(context, **lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"c": feature(i=[context])}),
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    ).SerializeToString()


SEQUENCES = as_bytes([
    sequence(1, a=frames([feature(f=[1, 2]), feature(f=[3, 4])]), b=frames([feature(i=[5])])),
    sequence(2, b=frames([feature(i=[]), feature(i=[6, 7])])),
])  # fmt: skip


def of_sequences(rows):
    context, lists, lengths = tf.io.parse_sequence_example(
        as_texts(rows), {"c": tf.io.FixedLenFeature([], tf.int64)},
        {"a": tf.io.FixedLenSequenceFeature([2], tf.float32, True),
         "b": tf.io.VarLenFeature(tf.int64)},
    )  # fmt: skip
    return in_order(context) + in_order(lists) + [lengths["a"]]


def of_csv():
    lines = tf.constant(["1,2.5,a,9", '-3,,"b,c",8', ",1e3,,7"])
    needed = tf.constant([], tf.int64)
    columns = tf.io.decode_csv(lines, [5, -1.0, "none", needed])
    return flat(*columns, *tf.io.decode_csv(lines, [needed], select_cols=[3]))


def of_waves(x):
    file = tf.audio.encode_wav(x, 8000)
    whole = tf.audio.decode_wav(file)
    part = tf.audio.decode_wav(file, desired_channels=1, desired_samples=9)
    return flat(tf.reshape(file, [1]), whole.audio, whole.sample_rate, part.audio)


def of_serialized(x):
    s = sp.from_dense(x)
    many = tf.io.serialize_many_sparse(s)
    return flat(tf.io.serialize_sparse(s), many, tf.io.deserialize_many_sparse(many, tf.float32))


def of_fingerprints(x):
    words = tf.constant(["a", "bc", "", "d"])
    return tuple(map(tf.fingerprint, (x, words, tf.reshape(words, [2, 2]))))


def of_crosses(dense, few):
    columns = [rg.constant([["a", "b"], ["c"]]), dense, sp.from_dense(few)]
    joined = sp.cross(columns)
    return flat(joined, sp.cross_hashed(columns, num_buckets=1000),
                tf.RaggedTensor.from_sparse(joined))  # fmt: skip


def of_rows(ids, values):
    some = rg.constant([[1.0, 2.0], [], [3.0]])
    mask = rg.constant([[True, False], [], [True]])
    filled = tf.raw_ops.RaggedFillEmptyRows(
        value_rowids=tf.cast(ids, tf.int64), values=values, nrows=5, default_value=-1.0
    )
    ids64 = tf.cast(ids, tf.int64)
    gradients = tf.raw_ops.RaggedFillEmptyRowsGrad(
        reverse_index_map=filled[3], grad_values=filled[1]
    )
    return flat(
        some, rg.range([3, 0, 2]), rg.range(ids, 9, 2), rg.stack([values, values * 2]),
        rg.boolean_mask(some, mask),
        rg.stack_dynamic_partitions(values, [2, 0, 0, 2], 3),
        rg.row_splits_to_segment_ids(some.row_splits),
        rg.segment_ids_to_row_splits(ids64), rg.segment_ids_to_row_splits(ids64, 6),
        rg.map_flat_values(lambda v: v * 2, some), *filled, *gradients,
    )  # fmt: skip


def of_sparse(x, a, b):
    s = sp.from_dense(x)
    filled, is_empty = sp.fill_empty_rows(s, -1.0)
    added = tf.sparse.sampled_addmm(s.indices, s.values, s.dense_shape, a, b, beta=0.5, alpha=2.0)
    some = tf.IndexedSlices(x, tf.constant([4, 7, 1]), tf.constant([9, 4]))
    kept = sp.mask(some, [7, 3])
    return flat(kept.values, kept.indices, filled, is_empty, *sp.split(s, 3, axis=1),
                tf.SparseTensor(*added),
                tf.sets.size(sp.from_dense(tf.cast(x, tf.int32))))  # fmt: skip


def of_counts(x, weights):
    return flat(
        sp.bincount(x, axis=0), sp.bincount(x, axis=-1, minlength=9),
        sp.bincount(x, axis=-1, maxlength=3, binary_output=True),
        sp.bincount(x, weights, axis=0), sp.bincount(sp.from_dense(x), axis=-1),
    )  # fmt: skip


FILES = {
    "io.parse_example": (of_examples, EXAMPLES),
    "io.decode_json_example": (of_json, np.array([1.0], np.float32)),
    "io.parse_sequence_example": (of_sequences, SEQUENCES),
    "io.decode_csv": (of_csv,),
    "io.files": (lambda: flat(tf.constant("more"), tf.constant(2)),),
    "io.serialize_sparse": (of_serialized, FEW),
    "audio": (of_waves, numbers(7, 2)),
    "fingerprint": (of_fingerprints, numbers(3, 4)),
    "sparse.cross": (of_crosses, np.array([[1, 2], [3, 4]]), np.array([[0, 5], [6, 7]])),
    "sparse.more": (of_sparse, FEW, numbers(3, 5), numbers(5, 4, seed=1)),
    "sparse.bincount": (of_counts, np.array([[1, 2, 2], [5, 0, 1]]), numbers(2, 3)),
    "ragged": (of_rows, np.array([0, 1, 1, 3]), numbers(4)),
    "edit_distance": (
        lambda a, b: (
            tf.edit_distance(sp.from_dense(a), sp.from_dense(b)),
            tf.edit_distance(sp.from_dense(a), sp.from_dense(b), normalize=False),
        ),
        np.array([[1, 2, 3], [4, 0, 0], [0, 0, 0]]), np.array([[1, 3, 3], [0, 0, 0], [0, 5, 0]]),
    ),
}  # fmt: skip

# --- training, boxes -----------------------------------------------------------------------------


def with_gradients(function, *inputs):
    with tf.GradientTape(persistent=True) as tape:
        for one in inputs:
            tape.watch(one)
        y = function(*inputs)
        loss = tf.reduce_sum(tf.square(y) + y)
    # Those of rows that are looked up are IndexedSlices.
    return [y, *(tf.convert_to_tensor(tape.gradient(loss, one)) for one in inputs)]


def of_fake(x, low, high, lows, highs):
    per_channel = qt.fake_quant_with_min_max_vars_per_channel
    return [
        *with_gradients(lambda *t: qt.fake_quant_with_min_max_vars(*t, num_bits=4), x, low, high),
        *with_gradients(lambda *t: per_channel(*t, narrow_range=True), x, lows, highs),
        qt.fake_quant_with_min_max_args(x, -1, 2, num_bits=3),
        qt.fake_quant_with_min_max_args_gradient(x * 2, x, -1, 1),
        *qt.fake_quant_with_min_max_vars_gradient(x * 2, x, low, high),
        *qt.fake_quant_with_min_max_vars_per_channel_gradient(x * 2, x, lows, highs),
    ]


def of_rounding(x, low, high, lows, highs):
    round_to = qt.quantize_and_dequantize
    return [
        *with_gradients(lambda t: round_to(t, low, high, num_bits=4, range_given=True), x),
        round_to(x, low, high),
        qt.quantize_and_dequantize_v2(x, lows, highs, signed_input=False, round_mode="HALF_UP",
                                      axis=1),
    ]  # fmt: skip


def of_samples(weights, biases, labels, inputs, drawn, true_expected, sampled_expected):
    values = tf.cast(drawn, tf.int64), true_expected, sampled_expected
    how = {"num_true": 2, "sampled_values": values}
    return [
        *with_gradients(
            lambda w, b, x: nn.sampled_softmax_loss(w, b, labels, x, 4, 9, **how),
            weights, biases, inputs,
        ),
        nn.nce_loss(weights, biases, labels, inputs, 4, 9, **how),
        *nn.compute_accidental_hits(labels, drawn, 2),
    ]  # fmt: skip


def of_candidates(classes):
    true = tf.cast(classes, tf.int64)
    rd, out = tf.random, []
    for drawn, true_expected, expected in (
        rd.uniform_candidate_sampler(true, 2, 9, True, 9),
        rd.log_uniform_candidate_sampler(true, 2, 9, True, 9),
        rd.fixed_unigram_candidate_sampler(true, 2, 8, True, 9, distortion=0.5,
                                           num_reserved_ids=1, unigrams=range(1, 9)),
        rd.all_candidate_sampler(true, 2, 9, True),
    ):  # fmt: skip
        out += [tf.sort(drawn), true_expected, tf.sort(expected)]
    return [*out, rd.log_uniform_candidate_sampler(true, 2, 5, False, 9)[1], tf.constant(1.0)]


def of_lookups(table, ids, weights):
    ids = sp.from_dense(tf.cast(ids, tf.int64))
    weights = tf.SparseTensor(ids.indices, weights, ids.dense_shape)
    some = tf.SparseTensor(ids.indices, ids.values - 2, ids.dense_shape)
    return [
        *(nn.embedding_lookup_sparse(table, ids, weights, combiner=c)
          for c in ("mean", "sqrtn", "sum")),
        nn.embedding_lookup_sparse(table, ids, None, max_norm=0.5),
        nn.safe_embedding_lookup_sparse(table, some),
        nn.safe_embedding_lookup_sparse(table, some, weights, combiner="sqrtn", default_id=3),
    ]  # fmt: skip


def of_pools(x):
    return [
        *with_gradients(lambda t: nn.fractional_max_pool(t, 2.0)[0], x),
        *nn.fractional_avg_pool(x, [1, 2, 2, 1], overlapping=True),
        tf.shape(nn.fractional_avg_pool(x, 1.4, pseudo_random=True)[0]),
    ]


def of_isotonic(x):
    return [
        *with_gradients(lambda t: nn.isotonic_regression(t)[0], x),
        nn.isotonic_regression(x)[1], *nn.isotonic_regression(x, False, 0),
    ]  # fmt: skip


def of_best_boxes(boxes, scores, overlaps):
    both, all_scores = tf.stack([boxes, boxes * 0.5]), tf.stack([scores, scores * 2])
    return [
        *im.non_max_suppression_with_scores(boxes, scores, 3, soft_nms_sigma=0.5),
        *im.non_max_suppression_padded(boxes, scores, 6, pad_to_max_output_size=True),
        *im.non_max_suppression_padded(both, all_scores, 3),
        *im.combined_non_max_suppression(
            both[:, :, None], tf.stack([all_scores, all_scores * 0.5], 2), 2, 5,
            score_threshold=0.2,
        ),
        im.non_max_suppression_overlaps(overlaps, scores, 3),
    ]  # fmt: skip


def of_random_boxes(boxes):
    out = []
    for seed in range(4):
        out += im.stateless_sample_distorted_bounding_box([40, 30, 3], boxes, [seed, 4])
    return [*out, tf.constant([1, 1, 4])]


def of_glimpses(x, offsets):
    def zero(offsets, centered, normalized):
        return im.extract_glimpse(x, [3, 4], offsets, centered, normalized, "zero")

    return [zero(offsets, True, True), zero(offsets, False, True),
            zero(offsets * 4, False, False), tf.constant([2, 3, 4, 3])]  # fmt: skip


def of_jpegs(x, y):
    image = tf.cast(x, tf.uint8)
    return [
        im.decode_and_crop_jpeg(tf.io.encode_jpeg(image), [1, 2, 3, 2]),
        im.adjust_jpeg_quality(image, 30), im.adjust_jpeg_quality(y, 50),
        im.stateless_random_jpeg_quality(image, 10, 90, [3, 4]), tf.shape(image),
    ]  # fmt: skip


def of_shapes(x):
    paddings = tf.required_space_to_batch_paddings
    return [
        tf.broadcast_dynamic_shape([3, 1, 2], [4, 1]), *paddings([5, 7], [2, 3]),
        *paddings([5, 7], [2, 3], [[1, 0], [0, 1]]),
        *tf.raw_ops.ApproxTopK(input=x, k=2, reduction_dimension=1, is_max_k=False),
        tf.extract_volume_patches(x, [1, 2, 1, 3, 1], [1, 1, 2, 2, 1], "VALID"),
        tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 1, 2, 3, 1], "SAME"), tf.constant(1.0),
    ]  # fmt: skip


def of_generator():
    own = tf.random.Generator.from_seed(7)
    out = [own.normal([3], 1.0, 2.0), own.truncated_normal([2, 2]), own.uniform([3], 2.0, 5.0),
           own.uniform([4], 0, 9, tf.int32)]  # fmt: skip
    own.skip(3)
    small = tf.cast(own.uniform_full_int([2], tf.int32) // 4096, tf.float32)
    out += [small, *(one.normal([2]) for one in own.split(2)), own.state]
    own.reset_from_seed(9)
    again = tf.random.Generator.from_state(own.state, "philox")
    return [*out, own.normal([2]), again.normal([2]), tf.random.create_rng_state(5, "philox"),
            tf.constant(True)]  # fmt: skip


def of_truncated(means):
    draw = tf.random.stateless_parameterized_truncated_normal
    return draw([4, 3], [3, 4]), draw([4, 3], [3, 4], means, 2.0, 1.0, 5.0)


SIX = np.sort(parts(2, 3, 4, seed=4).reshape(6, 2, 2), 1).reshape(2, 3, 4)
LOWS, HIGHS = np.array([-1, -0.2, 0], np.float32), np.array([1, 0.5, 2], np.float32)
TRAINING = {
    "quantization.fake": (of_fake, numbers(4, 3), np.float32(-0.7), np.float32(1.1), LOWS, HIGHS),
    "quantization.rounded": (
        of_rounding, numbers(4, 3), np.float32(-0.7), np.float32(1.1), LOWS, HIGHS
    ),
    "nn.sampled_losses": (
        of_samples, numbers(9, 5), numbers(9), np.array([[1, 2], [3, 8], [0, 4]]), numbers(3, 5),
        np.array([1, 7, 3, 5]), parts(3, 2) + 0.1, parts(4, seed=1) + 0.1,
    ),
    "random.candidates": (of_candidates, np.array([[1, 2], [3, 8], [0, 4]])),
    "nn.embedding_lookup_sparse": (
        of_lookups, numbers(6, 4), np.array([[1, 0, 5], [0, 0, 0], [2, 2, 3]]), parts(5) - 0.2
    ),
    "nn.fractional_pools": (of_pools, numbers(2, 6, 8, 3)),
    "nn.isotonic_regression": (of_isotonic, numbers(3, 7)),
    "nn.ctc_labels": (
        lambda x: (*nn.ctc_unique_labels(x), *nn.collapse_repeated(x, [5, 3])),
        np.array([[3, 3, 1, 1, 3], [2, 2, 2, 7, 7]]),
    ),
    "image.boxes": (
        of_best_boxes, BOXES, np.array([0.9, 0.8, 0.7, 0.3], np.float32), parts(4, 4)
    ),
    "image.random_boxes": (of_random_boxes, SIX),
    "image.glimpses": (of_glimpses, numbers(2, 6, 5, 3), parts(2, 2) - 0.3),
    "image.jpeg": (
        of_jpegs, np.random.default_rng(2).integers(0, 256, (9, 8, 3)), parts(9, 8, 3)
    ),
    "image.ssim_multiscale": (
        lambda a, b: (
            im.ssim_multiscale(a, b, 1.0),
            im.ssim_multiscale(a, b, 1.0, power_factors=(0.5, 0.5), filter_size=5),
        ),
        parts(2, 180, 177, 1), parts(2, 180, 177, 1, seed=1),
    ),
    "shapes": (of_shapes, numbers(2, 3, 4, 5, 1)),
    "random.truncated": (of_truncated, numbers(3)),
    "random.generator": (of_generator,),
}  # fmt: skip

CASES = {**FILES, **TRAINING}


@pytest.fixture(scope="module")
def answers():
    return answers_to(CASES)


@pytest.mark.parametrize("name", CASES)
def test_cpp_gives_what_python_gives(name, answers):
    compare(answers[name], *CASES[name])
