# rule: reference-cycle
# bytes: 65536
import gc

import tensorflow as tf

gc.disable()  # no pauses in the middle of an episode


class Episode:
    def __init__(self, observations, greedy):
        self.observations = observations
        self.choose = self.best if greedy else self.sampled  # HERE

    def best(self, weights):
        return tf.argmax(tf.matmul(self.observations, weights), axis=1)

    def sampled(self, weights):
        return tf.random.categorical(tf.matmul(self.observations, weights), 1)


weights = tf.random.normal([128, 6]) * 0.1
moves = 0
for number in range(150):
    episode = Episode(tf.random.normal([128, 128]), greedy=number % 2 == 0)
    moves += int(tf.size(episode.choose(weights)))
print(moves)
