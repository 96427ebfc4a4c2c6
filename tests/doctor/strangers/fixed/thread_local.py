import threading

import tensorflow as tf

local = threading.local()


def work(rounds):
    local.kept = {}
    base = tf.ones([4096])
    for number in range(rounds):
        scaled = base * float(number)
        local.kept[0] = scaled


thread = threading.Thread(target=work, args=(160,))
thread.start()
thread.join()
