# rule: tensors-gathered
# chain: variable "block"
# chain: wait_for() in thread "waiting-
# bytes: 40000
import threading

import tensorflow as tf

end = threading.Event()


def wait_for(number):
    block = tf.fill([100, 100], float(number))  # MADE HERE
    end.wait()
    return block


for i in range(60):
    threading.Thread(target=wait_for, args=(i,), name=f"waiting-{i}", daemon=True).start()
    y = tf.reduce_sum(tf.ones([10]))
end.set()
