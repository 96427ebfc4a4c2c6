"""transformers: a small BERT of TensorFlow is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

tf.random.set_seed(0)
config = BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=32, max_position_embeddings=16, hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)  # fmt: skip
model = TFBertForSequenceClassification(config)
tokens = tf.random.uniform([8, 10], 0, 50, tf.int32)
labels = tokens[:, 0] % 2
optimizer = tf.keras.optimizers.legacy.Adam(0.01)
losses = []
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tokens, labels=labels, training=True).loss)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    losses.append(float(loss))
assert losses[-1] < losses[0], losses
