"""A small GPT of Keras's layers learns a proverb by heart, letter by letter, and recites it."""

import numpy as np

import tidemark as tf

keras = tf.keras
layers = keras.layers
keras.utils.set_random_seed(0)

TEXT = "time and tide wait for no man, and the tide mark tells how high the water stood. " * 8
LETTERS = sorted(set(TEXT))
LENGTH, WIDTH = 32, 64


class Positions(layers.Layer):
    """Adds a learned vector for each place."""

    def build(self, shape):
        self.table = self.add_weight(shape=(LENGTH, shape[-1]), initializer="normal")

    def call(self, x):
        return x + self.table[: tf.shape(x)[1]]


def gpt(blocks=2, heads=4):
    letters = keras.Input([None], dtype="int32")
    h = Positions()(layers.Embedding(len(LETTERS), WIDTH)(letters))
    for _ in range(blocks):
        n = layers.LayerNormalization()(h)
        attention = layers.MultiHeadAttention(heads, WIDTH // heads)
        h = h + attention(n, n, use_causal_mask=True)
        n = layers.Dense(4 * WIDTH, activation="gelu")(layers.LayerNormalization()(h))
        h = h + layers.Dense(WIDTH)(n)
    return keras.Model(letters, layers.Dense(len(LETTERS))(layers.LayerNormalization()(h)))


codes = np.array([LETTERS.index(letter) for letter in TEXT], np.int32)
windows = np.lib.stride_tricks.sliding_window_view(codes, LENGTH + 1)
model = gpt()
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=loss)
model.fit(windows[:, :-1], windows[:, 1:], batch_size=32, epochs=6, verbose=2)

written = list(codes[:10])
for _ in range(60):
    logits = model(np.array([written[-LENGTH:]], np.int32))
    written.append(int(tf.argmax(logits[0, -1])))
recited = "".join(LETTERS[code] for code in written)
print(recited)
assert recited in TEXT * 2
