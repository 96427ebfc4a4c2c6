import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class Server:
    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf1.placeholder(tf.float32, [None, 64])
            self.w = tf1.get_variable("w", [64, 64], initializer=tf1.ones_initializer())
            self.y = tf.reduce_mean(tf.matmul(self.x, self.w))
            self.start = tf1.global_variables_initializer()
        self.sessions = []

    def answer(self, batch):
        with tf1.Session(graph=self.graph) as session:
            session.run(self.start)
            return float(session.run(self.y, {self.x: batch}))


server = Server()
for request in range(40):
    answer = server.answer(np.ones([2, 64], "float32"))
print(answer)
