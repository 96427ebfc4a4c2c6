"""Small models that ``tools/record_saved_models.py`` has TensorFlow save: name → how it is made.

Each takes TensorFlow and the folder to save into, and gives the inputs of the signatures that are
called: ``{signature: {input: array}}``.
"""

from __future__ import annotations

import os
import tempfile

import numpy as np

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def _numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@program
def mlp(tf, folder):
    """Keras: dense layers, batch normalisation, dropout."""
    keras = tf.keras
    model = keras.Sequential([
        keras.Input((8,), name="features"),
        keras.layers.Dense(16, "relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.5),
        keras.layers.Dense(4, "gelu"),
        keras.layers.Dense(3, "softmax"),
    ])  # fmt: skip
    model.export(folder, verbose=False)
    return {"serving_default": {"features": _numbers(5, 8)}}


@program
def cnn(tf, folder):
    """Keras: convolutions of several kinds, pooling, a resized picture."""
    layers = tf.keras.layers
    picture = tf.keras.Input((16, 16, 3), name="picture")
    x = layers.Rescaling(1 / 127.5, -1)(picture)
    x = layers.Conv2D(8, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu6")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.DepthwiseConv2D(3, padding="same", activation="swish")(x)
    x = layers.SeparableConv2D(12, 3, strides=2, padding="same")(x)
    x = layers.add([x, layers.Conv2D(12, 1, dilation_rate=1)(x)])
    x = layers.Conv2DTranspose(6, 3, strides=2, padding="same", activation="elu")(x)
    x = layers.ZeroPadding2D(1)(x)
    x = layers.AveragePooling2D(2)(x)
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    x = layers.GlobalAveragePooling2D()(x)
    model = tf.keras.Model(picture, layers.Dense(5, "softmax", name="classes")(x))
    model.export(folder, verbose=False)
    return {"serving_default": {"picture": np.abs(_numbers(2, 16, 16, 3)) * 100}}


@program
def layers(tf, folder):
    """Keras: volumes, rows, counts of categories, a Fourier transform."""
    layers, keras = tf.keras.layers, tf.keras
    volume = keras.Input((6, 6, 6, 2), name="volume")
    x = layers.Conv3D(4, 3, padding="same", activation="relu")(volume)
    x = layers.MaxPooling3D(2)(x)
    x = layers.Conv3DTranspose(3, 2, strides=2)(x)
    x = layers.AveragePooling3D(2)(x)
    y = layers.Conv1D(4, 3, padding="causal")(layers.Reshape((27, 3))(x))
    y = layers.AveragePooling1D(2)(layers.DepthwiseConv1D(3)(y))
    real, imaginary = keras.ops.rfft(layers.Flatten()(y))
    ids = keras.Input((5,), dtype="int32", name="ids")
    counts = layers.CategoryEncoding(8, output_mode="count")(ids)
    picture = layers.UpSampling2D(2, interpolation="bicubic")(layers.Reshape((9, 3, 3))(x))
    outputs = {"spectrum": keras.ops.sqrt(real**2 + imaginary**2), "counts": counts,
               "picture": picture}  # fmt: skip
    keras.Model([volume, ids], outputs).export(folder, verbose=False)
    given = {"volume": _numbers(2, 6, 6, 6, 2), "ids": np.array([[1, 1, 2, 7, 0]] * 2, np.int32)}
    return {"serving_default": given}


@program
def lstm(tf, folder):
    """Keras: an embedding, a masked LSTM in both directions, a GRU."""
    layers = tf.keras.layers
    words = tf.keras.Input((None,), dtype="int32", name="words")
    x = layers.Embedding(20, 6, mask_zero=True)(words)
    x = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(x)
    x = layers.GRU(4)(x)
    model = tf.keras.Model(words, layers.Dense(2)(x))
    model.export(folder, verbose=False)
    given = np.array([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8], [9, 0, 0, 0, 0]], np.int32)
    return {"serving_default": {"words": given}}


@program
def transformer(tf, folder):
    """Words through a lookup table, attention, a loop that stops when it likes, a choice."""
    layers = tf.keras.layers
    words = ["the", "tide", "comes", "in", "and", "goes", "out"]

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.StaticVocabularyTable(
                tf.lookup.KeyValueTensorInitializer(words, np.arange(7, dtype=np.int64)), 2
            )
            self.embedding = layers.Embedding(9, 8)
            self.attention = layers.MultiHeadAttention(2, 4)
            self.norm = layers.LayerNormalization()
            self.dense = layers.Dense(8, "gelu")
            self.calls = tf.Variable(0, dtype=tf.int64, trainable=False)
            self._block(self.embedding(np.zeros([1, 4], np.int64)))

        def _block(self, x):
            mask = tf.linalg.band_part(tf.ones([tf.shape(x)[1]] * 2, tf.bool), -1, 0)
            y = self.attention(x, x, attention_mask=mask)
            return self.norm(x + self.dense(y))

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.string, "words"),
                                      tf.TensorSpec([], tf.int32, "rounds")])  # fmt: skip
        def __call__(self, words, rounds):
            self.calls.assign_add(1)
            ids = self.table.lookup(words)
            x = self.embedding(ids)
            count = tf.constant(0)
            while count < rounds and tf.reduce_max(tf.abs(x)) < 1e3:
                x = self._block(x)
                count += 1
            if tf.reduce_sum(ids) % 2 == 0:
                y, count = tf.reduce_mean(x, 1), count + 0
            else:
                y = tf.reduce_max(x, 1)
            y = tf.switch_case(count, [lambda: y, lambda: y * 2.0, lambda: tf.nn.relu(y)])
            return {"pooled": y, "ids": ids, "count": count, "calls": self.calls.read_value()}

    model = Model()
    tf.saved_model.save(model, folder, signatures=model.__call__)
    given = np.array([[b"the", b"tide", b"comes", b"home"], [b"out", b"and", b"in", b"the"]])
    return {"serving_default": {"words": given, "rounds": np.int32(2)}}


@program
def text(tf, folder):
    """String ops, regular expressions, a vocabulary in an asset file, ragged rows."""
    path = os.path.join(tempfile.mkdtemp(), "vocabulary.txt")
    with open(path, "w") as file:
        file.write("[unknown]\nhigh\nlow\ntide\nwater\n")

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER),
                0)  # fmt: skip
            self.names = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer([0, 1, 2], ["other", "up", "down"],
                                                    tf.int64, tf.string), "none")  # fmt: skip
            self.weights = tf.Variable(_numbers(5, 3))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def __call__(self, text):
            clean = tf.strings.regex_replace(tf.strings.lower(text), "[^a-z ]", "")
            words = tf.strings.split(tf.strings.strip(clean))
            ids = self.table.lookup(words.to_tensor("[unknown]"))
            scores = tf.reduce_sum(tf.gather(self.weights, ids), 1)
            best = tf.argmax(scores, 1)
            label = tf.strings.join(["<", self.names.lookup(best), ">"])
            return {"label": label, "scores": scores, "ids": ids,
                    "length": tf.strings.length(clean),
                    "first": tf.strings.substr(clean, 0, 3),
                    "hash": tf.strings.to_hash_bucket_fast(clean, 100),
                    "starts": tf.strings.regex_full_match(clean, "high.*")}  # fmt: skip

    model = Model()
    tf.saved_model.save(model, folder, signatures=model.__call__)
    given = np.array([b"High tide!", b"  low Water, low tide ", b"sun"])
    return {"serving_default": {"text": given}}


@program
def objects(tf, folder):
    """An object graph: modules in modules, lists, functions with several traces, constants."""

    class Inner(tf.Module):
        def __init__(self, scale):
            super().__init__()
            self.scale = tf.Variable(scale, name="scale")

        @tf.function
        def __call__(self, x, training=False):
            return x * self.scale if training else x + self.scale

    class Outer(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = [Inner(2.0), Inner(3.0)]
            self.named = {"a": Inner(5.0)}
            self.count = tf.Variable([0, 0], trainable=False, name="count")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, "x")])
        def run(self, x):
            self.count.assign_add([1, 2])
            for part in self.parts:
                x = part(x)
            return x, {"last": self.named["a"](x, training=True)}

        @tf.function(input_signature=[tf.TensorSpec([2], tf.int32, "by")])
        def bump(self, by):
            return {"count": self.count.assign_add(by)}

    model = Outer()
    for part in (*model.parts, model.named["a"]):
        for training in (False, True):
            part(tf.constant([1.0]), training)
            part(tf.constant(1.0), training=training)
    run = tf.function(lambda x: {"y": model.run(x)[0]}).get_concrete_function(
        tf.TensorSpec([None], tf.float32, "x"))  # fmt: skip
    tf.saved_model.save(model, folder, signatures={"serving_default": run, "bump": model.bump})
    return {"serving_default": {"x": np.array([1.0, 2.0], np.float32)},
            "bump": {"by": np.array([3, 4], np.int32)}}  # fmt: skip


@program
def assets(tf, folder):
    """Files beside the model, two of one name; a path as a function's result, in a branch."""

    class Reader(tf.Module):
        def __init__(self, place):
            super().__init__()
            texts = {"words.txt": "tide\nmark", "more/words.txt": "ebb"}
            os.makedirs(os.path.join(place, "more"))
            for name, text in texts.items():
                with open(os.path.join(place, name), "w") as file:
                    file.write(text)
            self.first, second = (tf.saved_model.Asset(os.path.join(place, n)) for n in texts)
            self.others = [second]

        @tf.function(input_signature=[tf.TensorSpec([], tf.bool, "is_first")])
        def read(self, is_first):
            path = tf.cond(
                is_first, lambda: self.first.asset_path, lambda: self.others[0].asset_path
            )
            name = tf.strings.split(self.first.asset_path, "/")[-1]
            return {"text": tf.io.read_file(path), "length": tf.strings.length(name)}

    with tempfile.TemporaryDirectory() as place:
        tf.saved_model.save(Reader(place), folder)
    return {"serving_default": {"is_first": np.array(False)}}


@program
def frozen(tf, folder):
    """TensorFlow 1: a classifier whose variables are constants, under a tag of its own."""
    v1 = tf.compat.v1
    with v1.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        picture = v1.placeholder(tf.float32, [None, 8, 8, 1], "picture")
        x = v1.nn.relu(v1.nn.conv2d(picture, _numbers(3, 3, 1, 4), 2, "SAME"))
        x = v1.nn.max_pool2d(x, 2, 2, "VALID")
        x = v1.reshape(x, [-1, 16])
        logits = v1.matmul(x, _numbers(16, 3, seed=1)) + _numbers(3, seed=2)
        classes = v1.nn.softmax(logits, name="classes")
        best = v1.argmax(classes, 1, name="best")
        builder = v1.saved_model.Builder(folder)
        outputs = {"classes": classes, "best": best}
        signature = v1.saved_model.predict_signature_def({"picture": picture}, outputs)
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, clear_devices=True)  # fmt: skip
        builder.save()
    return {"serving_default": {"picture": _numbers(3, 8, 8, 1)}}


@program
def v1_loops(tf, folder):
    """TensorFlow 1: variables, a table, ``Switch`` and ``Merge``, a loop of ``Enter`` and ``Exit``,
    in two meta graphs."""
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    try:
        builder = v1.saved_model.Builder(folder)
        for tag, scale in (("train", 100.0), ("serve", 1.0)):
            with v1.Graph().as_default() as graph, v1.Session(graph=graph) as session:
                signature = _v1_signature(tf, scale)
                session.run([v1.global_variables_initializer(), v1.tables_initializer()])
                options = {"main_op": v1.tables_initializer()}
                signatures = {"serving_default": signature}
                if tag == "train":
                    builder.add_meta_graph_and_variables(session, [tag], signatures, **options)
                else:
                    builder.add_meta_graph([tag], signatures, **options)
        builder.save()
    finally:
        v1.enable_control_flow_v2()
    return {"serving_default": {"x": _numbers(3, 2, seed=5), "words": np.array([b"b", b"z"])}}


def _v1_signature(tf, scale):
    v1 = tf.compat.v1
    x = v1.placeholder(tf.float32, [None, 2], "x")
    words = v1.placeholder(tf.string, [None], "words")
    weights = v1.get_variable("weights", initializer=_numbers(2, 2) / 4, use_resource=False)
    shift = v1.get_variable("shift", initializer=_numbers(2), use_resource=True)
    table = v1.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)), -1)  # fmt: skip

    def inner(i, y):
        return v1.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + shift), [0, y])[1]

    _, y = v1.while_loop(lambda i, y: i < 3,
                         lambda i, y: (i + 1, inner(i, v1.matmul(y, weights))), [0, x])  # fmt: skip

    def doubled():
        return v1.cond(v1.reduce_max(x) > 9, lambda: y, lambda: y * 2.0)

    chosen = v1.cond(v1.reduce_sum(x) > 0, doubled, lambda: y - shift)
    return v1.saved_model.predict_signature_def(
        {"x": x, "words": words},
        {"y": v1.identity(chosen * scale), "ids": table.lookup(words)})  # fmt: skip
