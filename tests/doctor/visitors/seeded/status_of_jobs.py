# rule: traceback-holds
# chain: status
# root: module __main__
# bytes: 16384
import tensorflow as tf

status = {}


class Rejected(Exception):
    pass


def check(batch):
    worst = float(tf.reduce_max(tf.abs(batch)))
    if worst > 2.0:
        raise Rejected(f"value {worst:.1f} is out of range")


def run(job):
    batch = tf.random.normal([64, 64])
    check(batch)
    return float(tf.reduce_mean(batch))


for job in range(200):
    try:
        run(job)
        status[job] = "done"
    except Rejected as error:
        status[job] = error  # HERE
print(sum(state != "done" for state in status.values()))
