"""Agents: a DQN agent acts and is trained on a replay buffer."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.networks import q_network
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory

tf.random.set_seed(0)
observations = tensor_spec.TensorSpec([4], tf.float32, "observation")
actions = tensor_spec.BoundedTensorSpec([], tf.int32, 0, 1, "action")
steps = ts.time_step_spec(observations)
agent = dqn_agent.DqnAgent(
    steps, actions, q_network=q_network.QNetwork(observations, actions, fc_layer_params=(8,)),
    optimizer=tf.keras.optimizers.legacy.Adam(0.01),
)  # fmt: skip
agent.initialize()
buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(
    agent.collect_data_spec, batch_size=1, max_length=64
)
step = ts.restart(tf.ones([1, 4]), batch_size=1)
for _ in range(10):
    action = agent.collect_policy.action(step)
    following = ts.transition(tf.ones([1, 4]), reward=tf.ones([1]))
    buffer.add_batch(trajectory.from_transition(step, action, following))
    step = following
sample, _ = next(iter(buffer.as_dataset(sample_batch_size=4, num_steps=2)))
assert np.isfinite(float(agent.train(sample).loss))
