# chain: Mailbox.letters
# bytes: 16384
import threading

import tensorflow as tf


class Mailbox:
    def __init__(self):
        self.letters = []
        self.lock = threading.Lock()

    def put(self, letter):
        with self.lock:
            self.letters.append(letter)  # HERE


def send(mailbox, rounds):
    x = tf.random.normal([64, 64])
    for number in range(rounds):
        mailbox.put(tf.sin(x + float(number)))  # MADE


mailbox = Mailbox()
senders = [threading.Thread(target=send, args=(mailbox, 300)) for _ in range(2)]
for sender in senders:
    sender.start()
for sender in senders:
    sender.join()
