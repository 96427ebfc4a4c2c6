"""What each of four workers will need: python examples/distribute/planned.py"""

import tidemark as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
keras = tf.keras

with strategy.scope():
    layers = [keras.layers.Dense(512, "relu"), keras.layers.Dense(512, "relu")]
    model = keras.Sequential([keras.Input((784,)), *layers, keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.optimizer.build(model.trainable_variables)


@tf.function
def step(x, y):
    return strategy.run(model.train_step, args=((x, y),))


if __name__ == "__main__":
    x, y = tf.TensorSpec([64, 784]), tf.TensorSpec([64], tf.int32)  # what each of them is given
    for shard in (None, "optimizer", "gradients", "parameters"):
        plan = step.plan(x, y, workers=4, shard=shard)
        print(f"{shard}: worker {plan.worst.rank} needs {plan.worst.total:,} bytes and the one "
              f"that sends most {plan.bytes_sent:,} a step")  # fmt: skip
