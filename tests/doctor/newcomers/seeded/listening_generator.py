# chain: "heard"
# chain: listen
# bytes: 16384
import tensorflow as tf


def listen():
    heard = []
    while True:
        x = yield len(heard)
        heard.append(x)  # HERE


ear = listen()
next(ear)
x = tf.random.normal([64, 64])
for step in range(150):
    ear.send(tf.tanh(x * (step * 0.1)))  # MADE
