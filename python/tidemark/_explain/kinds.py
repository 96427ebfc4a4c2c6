"""Which objects are tensors, variables and compiled functions: those of the runtime, or of the
library that a house call is made to."""

from __future__ import annotations

tensors: tuple = ()
variables: tuple = ()
functions: tuple = ()
number: str = "float(tf.reduce_mean({}))"  # how a program writes the mean of a tensor


def know(tensor_types, variable_types, function_types, mean=number):
    """From now on these are the types."""
    global tensors, variables, functions, number
    tensors, variables, functions = tensor_types, variable_types, function_types
    number = mean
