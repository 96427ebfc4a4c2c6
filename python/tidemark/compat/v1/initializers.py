"""``tf.compat.v1.initializers``: what gives variables their first values, and runs them."""

from tidemark._v1.initializers import constant_initializer as constant
from tidemark._v1.initializers import glorot_normal_initializer as glorot_normal
from tidemark._v1.initializers import glorot_uniform_initializer as glorot_uniform
from tidemark._v1.initializers import (
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)
from tidemark._v1.initializers import identity_initializer as identity
from tidemark._v1.initializers import ones_initializer as ones
from tidemark._v1.initializers import orthogonal_initializer as orthogonal
from tidemark._v1.initializers import random_normal_initializer as random_normal
from tidemark._v1.initializers import random_uniform_initializer as random_uniform
from tidemark._v1.initializers import truncated_normal_initializer as truncated_normal
from tidemark._v1.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling
from tidemark._v1.initializers import variance_scaling_initializer as variance_scaling
from tidemark._v1.initializers import zeros_initializer as zeros
from tidemark._v1.old_functions import tables_initializer
from tidemark._v1.variables import global_variables_initializer as global_variables
from tidemark._v1.variables import local_variables_initializer as local_variables
from tidemark._v1.variables import variables_initializer as variables

__all__ = [
    "constant", "glorot_normal", "glorot_uniform", "global_variables", "he_normal", "he_uniform",
    "identity", "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal",
    "random_normal", "random_uniform", "tables_initializer", "truncated_normal",
    "uniform_unit_scaling", "variables", "variance_scaling", "zeros",
]  # fmt: skip
