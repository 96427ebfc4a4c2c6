"""A training step of the mlp (forward, backward, Adam) as one function, against all peers."""

from compiled import training_case

CASE = training_case("mlp")
