# chain: "runs"
# root: module __main__
# bytes: 32768
import tensorflow as tf

runs = {"train": {"scores": [], "losses": []}, "test": {"scores": [], "losses": []}}
image = tf.random.normal([128, 64])
for step in range(130):
    score = tf.tanh(image * (0.01 * step))  # MADE
    runs["test"]["scores"].append(score)  # HERE
    runs["test"]["losses"].append(float(tf.reduce_mean(score)))
