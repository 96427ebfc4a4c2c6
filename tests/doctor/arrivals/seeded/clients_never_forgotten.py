# rule: tensors-gathered
# chain: clients
# root: module __main__
# bytes: 16384
import tensorflow as tf

mixing = tf.random.normal([256, 256]) * 0.05


class Client:
    def __init__(self):
        self.state = tf.random.normal([16, 256])

    def message(self, x):
        self.state = tf.tanh(tf.matmul(self.state + x, mixing))
        return float(tf.reduce_sum(self.state))


class Server:
    def __init__(self):
        self.clients = {}
        self.online = set()

    def connect(self, name):
        self.clients[name] = Client()  # HERE
        self.online.add(name)
        return self.clients[name]

    def disconnect(self, name):
        self.online.discard(name)


server = Server()
for visitor in range(200):
    client = server.connect(f"10.0.{visitor // 256}.{visitor % 256}")
    for _ in range(3):
        client.message(tf.random.normal([16, 256]))
    server.disconnect(f"10.0.{visitor // 256}.{visitor % 256}")
print(len(server.online))
