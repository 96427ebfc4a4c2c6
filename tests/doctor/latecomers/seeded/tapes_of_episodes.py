# rule: persistent-tape
# chain: Agent.tapes
import tensorflow as tf


class Agent:
    def __init__(self):
        self.w = tf.Variable(tf.random.normal([64, 64]))
        self.tapes = {}

    def act(self, episode):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum(tf.tanh(self.w * 0.5))
        self.tapes[episode] = tape  # HERE
        return loss


agent = Agent()
for episode in range(120):
    agent.act(episode)
