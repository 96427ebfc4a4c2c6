# rule: tensors-gathered
# chain: corpus
# root: module __main__
# bytes: 24576
"""A small object per document; the embedding of each is made once it is read."""

import functools

import tensorflow as tf

table = tf.random.normal([64, 96])


class Document:
    def __init__(self, seed):
        self.seed = seed

    @functools.cached_property  # HERE
    def embedding(self):
        words = tf.random.normal([64, 64]) + float(self.seed)
        return tf.matmul(words, table)  # MADE


corpus = [Document(seed) for seed in range(120)]
scores = []
for document in corpus:
    scores.append(float(tf.reduce_mean(document.embedding)))
print(len(scores))
