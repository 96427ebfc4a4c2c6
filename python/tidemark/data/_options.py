"""``tf.data.Options``: accepted as TensorFlow's; what has no meaning here changes nothing."""

from __future__ import annotations

import enum


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is split over workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What saving a pipeline does about state outside of it."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class ThreadingOptions:
    """Threads of a pipeline."""

    def __init__(self):
        self.max_intra_op_parallelism = None
        self.private_threadpool_size = None


class DistributeOptions:
    """How a dataset is split."""

    def __init__(self):
        self.auto_shard_policy = AutoShardPolicy.AUTO
        self.num_devices = None


class AutotuneOptions:
    """Tuning; the pipeline takes what it needs."""

    def __init__(self):
        self.enabled = None
        self.cpu_budget = None
        self.ram_budget = None
        self.autotune_algorithm = None


class OptimizationOptions:
    """Rewriting of pipelines."""

    def __init__(self):
        self.apply_default_optimizations = None
        self.map_parallelization = None
        self.map_fusion = None


class Options:
    """What a pipeline is told beside its steps."""

    def __init__(self):
        self.deterministic = None
        self.autotune = AutotuneOptions()
        self.experimental_distribute = DistributeOptions()
        self.experimental_optimization = OptimizationOptions()
        self.experimental_slack = None
        self.experimental_external_state_policy = None
        self.threading = ThreadingOptions()

    @property
    def experimental_deterministic(self):
        return self.deterministic

    @experimental_deterministic.setter
    def experimental_deterministic(self, value):
        self.deterministic = value

    def merge(self, other):
        """The other's settings over these."""
        merged = Options()
        for source in (self, other):
            for name, value in vars(source).items():
                if value is not None:
                    setattr(merged, name, value)
        return merged
