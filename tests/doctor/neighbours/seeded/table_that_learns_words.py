# rule: tensors-gathered
# chain: vectors
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Vocabulary:
    def __init__(self):
        self.index, self.vectors = {}, []

    def lookup(self, word):
        if word not in self.index:
            self.index[word] = len(self.vectors)
            self.vectors.append(tf.random.normal([64, 64]))  # HERE
        return self.vectors[self.index[word]]


words = Vocabulary()
total = 0.0
for number in range(200):
    if number % 2:
        total += float(tf.reduce_max(words.lookup("the")))
    total += float(tf.reduce_max(words.lookup(f"word-{number}")))
print(total > 0)
