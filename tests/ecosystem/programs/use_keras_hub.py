"""KerasHub: a small BERT and a small GPT-2 made, called, and text generated with a sampler."""

import keras
import keras_hub
import numpy as np

keras.utils.set_random_seed(0)
bert = keras_hub.models.BertBackbone(
    vocabulary_size=50, num_layers=1, num_heads=2, hidden_dim=8, intermediate_dim=16,
    max_sequence_length=12,
)  # fmt: skip
inputs = {
    "token_ids": np.ones((2, 12), "int32"),
    "segment_ids": np.zeros((2, 12), "int32"),
    "padding_mask": np.ones((2, 12), "int32"),
}
assert bert(inputs)["sequence_output"].shape == (2, 12, 8)
gpt = keras_hub.models.GPT2Backbone(
    vocabulary_size=20, num_layers=1, num_heads=2, hidden_dim=8, intermediate_dim=16,
    max_sequence_length=10,
)  # fmt: skip
model = keras_hub.models.GPT2CausalLM(gpt, preprocessor=None)
model.compile(sampler="greedy", optimizer="adam", loss="sparse_categorical_crossentropy")
prompt = {
    "token_ids": np.array([[1, 2, 3, 0, 0, 0]], "int32"),
    "padding_mask": np.array([[1, 1, 1, 0, 0, 0]], "int32"),
}
made = model.generate(prompt, stop_token_ids=None)
assert np.array_equal(np.asarray(made["token_ids"])[0, :3], [1, 2, 3])
