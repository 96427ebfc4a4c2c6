"""A training step of the gpt (forward, backward, Adam) as one function, against all peers."""

from compiled import training_case

CASE = training_case("gpt")
