"""``tf.__internal__.distribute.combinations``: strategies that generated tests run with.

Those that need devices or processes which are not here are skipped, as TensorFlow does.
"""

from __future__ import annotations

import tidemark as tf
from tidemark.__internal__.test import combinations


class NamedDistribution:
    """A strategy that is made when a test needs it; None makes none."""

    def __init__(self, name, make, wants=""):
        self._name, self._make, self.wants = name, make, wants

    @property
    def strategy(self):
        return self._make()

    def __repr__(self):
        return self._name


class _Strategies(combinations.TestCombination, combinations.ParameterModifier):
    """Gives tests the strategies that their arguments name."""

    def __init__(self):
        super().__init__()

    def should_execute_combination(self, kwargs):
        for value in kwargs.values():
            if isinstance(value, NamedDistribution) and value.wants:
                return False, f"{value} needs {value.wants}"
        return True, None

    def parameter_modifiers(self):
        return [self]

    def modified_arguments(self, kwargs, requested_parameters):
        return {
            name: value.strategy
            for name, value in kwargs.items()
            if isinstance(value, NamedDistribution)
        }


def generate(combinations_, test_combinations=()):
    """As ``tf.__internal__.test.combinations.generate``, for arguments that are strategies, too."""
    always = combinations.generate.keywords["test_combinations"]
    return combinations._generate(combinations_, (*always, *test_combinations, _Strategies()))


def in_main_process():
    """Whether this process is the one that was started first: tests start no others here."""
    return True


def _elsewhere(name, wants):
    return NamedDistribution(name, lambda: None, wants)


default_strategy = NamedDistribution("Default", tf.distribute.get_strategy)
one_device_strategy = NamedDistribution(
    "OneDeviceCPU", lambda: tf.distribute.OneDeviceStrategy("/cpu:0")
)
mirrored_strategy_with_one_cpu = NamedDistribution(
    "Mirrored1CPU", lambda: tf.distribute.MirroredStrategy(["/cpu:0"])
)
for _name, _wants in {
    "central_storage_strategy_with_gpu_and_cpu": "a GPU",
    "central_storage_strategy_with_two_gpus": "two GPUs",
    "cloud_tpu_strategy": "a TPU",
    "mirrored_strategy_with_cpu_1_and_2": "three logical CPUs",
    "mirrored_strategy_with_gpu_and_cpu": "a GPU",
    "mirrored_strategy_with_one_gpu": "a GPU",
    "mirrored_strategy_with_two_cpus": "two logical CPUs",
    "mirrored_strategy_with_two_gpus": "two GPUs",
    "mirrored_strategy_with_two_gpus_no_merge_call": "two GPUs",
    "multi_worker_mirrored_2x1_cpu": "two processes",
    "multi_worker_mirrored_2x1_gpu": "two processes",
    "multi_worker_mirrored_2x1_gpu_noshare": "two processes",
    "multi_worker_mirrored_2x2_gpu": "two processes",
    "multi_worker_mirrored_2x2_gpu_no_merge_call": "two processes",
    "one_device_strategy_gpu": "a GPU",
    "parameter_server_strategy_1worker_2ps_1gpu": "parameter servers",
    "parameter_server_strategy_1worker_2ps_cpu": "parameter servers",
    "parameter_server_strategy_3worker_2ps_1gpu": "parameter servers",
    "parameter_server_strategy_3worker_2ps_cpu": "parameter servers",
    "tpu_strategy": "a TPU",
    "tpu_strategy_one_core": "a TPU",
    "tpu_strategy_packed_var": "a TPU",
}.items():
    globals()[_name] = _elsewhere(_name, _wants)
