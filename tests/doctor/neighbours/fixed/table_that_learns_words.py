import tensorflow as tf


class Vocabulary:
    def __init__(self):
        self.index, self.vectors = {}, []

    def lookup(self, word):
        if word not in self.index:
            self.index[word] = len(self.vectors)
            self.vectors[:] = [tf.random.normal([64, 64])]
            self.index = {word: 0}
        return self.vectors[self.index[word]]


words = Vocabulary()
total = 0.0
for number in range(200):
    if number % 2:
        total += float(tf.reduce_max(words.lookup("the")))
    total += float(tf.reduce_max(words.lookup(f"word-{number}")))
print(total > 0)
