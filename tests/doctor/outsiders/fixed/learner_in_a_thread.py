import queue
import threading

import tensorflow as tf


def learner(inbox, losses):
    trajectories = []
    while True:
        trajectory = inbox.get()
        if trajectory is None:
            return
        trajectories = [trajectory]
        losses.put(float(tf.reduce_mean(trajectories[-1])))


inbox, losses = queue.Queue(), queue.Queue()
thread = threading.Thread(target=learner, args=(inbox, losses), name="learner", daemon=True)
thread.start()
value = 0.0
for step in range(130):
    inbox.put(tf.tanh(tf.random.normal([64, 64])))
    value += losses.get()
inbox.put(None)
thread.join()
print(value)
