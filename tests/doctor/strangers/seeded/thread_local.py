# chain: kept
# bytes: 16384
import threading

import tensorflow as tf

local = threading.local()


def work(rounds):
    local.kept = {}
    base = tf.ones([4096])
    for number in range(rounds):
        scaled = base * float(number)  # MADE
        local.kept[number] = scaled  # HERE


thread = threading.Thread(target=work, args=(160,))
thread.start()
thread.join()
