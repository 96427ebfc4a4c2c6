"""An LSTM reads sentences and tells praise from blame: strings in, one number out."""

import random

import tidemark as tf

keras = tf.keras
layers = keras.layers
keras.utils.set_random_seed(0)

GOOD = ["great", "lovely", "fine", "superb", "warm", "sound"]
BAD = ["dull", "poor", "broken", "cold", "cheap", "sad"]
THINGS = ["coat", "shoe", "shirt", "dress", "bag", "boot"]


def sentence(rng):
    """A sentence and whether it praises; "not" turns it round."""
    praise, turned = rng.random() < 0.5, rng.random() < 0.3
    word = rng.choice(GOOD if praise else BAD)
    text = f"this {rng.choice(THINGS)} is {'not ' * turned}{word}"
    return text, float(praise != turned)


rng = random.Random(1)
sentences = [sentence(rng) for _ in range(2000)]
x, y = tf.constant([text for text, _ in sentences]), tf.constant([label for _, label in sentences])

words = layers.TextVectorization(output_sequence_length=6)
words.adapt(x)
model = keras.Sequential(
    [
        words,
        layers.Embedding(words.vocabulary_size(), 16, mask_zero=True),
        layers.LSTM(32),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"]
)
model.fit(x[:1600], y[:1600], batch_size=64, epochs=4, verbose=2)
loss, accuracy = model.evaluate(x[1600:], y[1600:], verbose=0)
print(f"accuracy on unseen sentences: {accuracy:.3f}")
guess = model.predict(tf.constant(["this bag is not dull"]), verbose=0)
print(f"'this bag is not dull' is praise: {guess[0, 0]:.2f}")
assert accuracy > 0.95
