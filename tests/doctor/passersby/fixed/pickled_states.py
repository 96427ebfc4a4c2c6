"""States are saved as copies through pickle, one for every step to go back to."""

import pickle

import tensorflow as tf

saved = {}


def save(step, state):
    copy = pickle.loads(pickle.dumps(state))
    saved.clear()
    saved[step] = copy


state = {"w": tf.random.normal([64, 64]), "step": 0}
for step in range(100):
    state = {"w": state["w"] * 0.99, "step": step}
    save(step, state)
print(len(saved), float(tf.reduce_sum(saved[99]["w"])) != 0)
