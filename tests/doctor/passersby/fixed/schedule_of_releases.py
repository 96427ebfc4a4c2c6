import sched
import time

import tensorflow as tf


def release(name, pages):
    pages.clear()
    return name


def main():
    scheduler = sched.scheduler(time.monotonic, time.sleep)
    total = 0.0
    for step in range(120):
        pages = [tf.sin(tf.random.normal([40, 128]))]
        total += float(tf.reduce_mean(pages[0]))
        scheduler.enter(0.0, 1, release, (f"pages-{step}", pages))
        scheduler.run(blocking=False)
    print(total)


main()
