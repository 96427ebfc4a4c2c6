"""Which processes there are: cluster resolvers.

TF_CONFIG='{"cluster": {"worker": ["a:2222", "b:2222"]}, "task": {"type": "worker", "index": 0}}'

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
resolver.cluster_spec().as_dict()     # {"worker": ["a:2222", "b:2222"]}
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess

from tidemark import _tidemark
from tidemark.train._cluster import ClusterSpec

_TRAINING = ("chief", "worker")  # the jobs that train, in the order of their ranks
_JOBS = (*_TRAINING, "evaluator", "ps")


class ClusterResolver:
    """Says which tasks there are and which one this is."""

    task_type = None
    task_id = None
    rpc_layer = None
    environment = ""

    def cluster_spec(self):
        raise NotImplementedError("a cluster resolver has a `cluster_spec`")

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The address of a task, of this one unless another is named."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None or not self.cluster_spec():
            return ""
        address = self.cluster_spec().task_address(task_type, task_id)
        layer = self.rpc_layer if rpc_layer is None else rpc_layer
        return f"{layer}://{address}" if layer else address

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {}


class SimpleClusterResolver(ClusterResolver):
    """What the program says."""

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None, environment="",
                 num_accelerators=None, rpc_layer=None):  # fmt: skip
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        self._spec, self._master = cluster_spec, master
        self._accelerators = dict(num_accelerators or {})
        self.task_type, self.task_id = task_type, task_id
        self.environment, self.rpc_layer = environment or "", rpc_layer

    def cluster_spec(self):
        return self._spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return super().master(task_type, task_id, rpc_layer)
        layer = self.rpc_layer if rpc_layer is None else rpc_layer
        return f"{layer}://{self._master}" if layer and self._master else self._master

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return dict(self._accelerators)


class TFConfigClusterResolver(ClusterResolver):
    """What the environment variable ``TF_CONFIG`` says, as launchers set it."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._given = (task_type, task_id, rpc_layer, environment)

    @staticmethod
    def _config():
        text = os.environ.get("TF_CONFIG", "")
        try:
            config = json.loads(text) if text.strip() else {}
        except ValueError as error:
            raise ValueError(f"TF_CONFIG is no JSON ({error}): {text!r}") from None
        if not isinstance(config, dict):
            raise ValueError(f"TF_CONFIG must be an object with `cluster` and `task`: {text!r}")
        if "sparseCluster" in config and "cluster" not in config:
            raise ValueError(
                "TF_CONFIG has a `sparseCluster`, as of jobs whose number of workers changes; "
                "`cluster`, with all workers, is needed"
            )
        return config

    def _task(self, key):
        return self._config().get("task", {}).get(key)

    @property
    def task_type(self):
        found = self._task("type") if self._given[0] is None else self._given[0]
        return None if found is None else str(found)

    @property
    def task_id(self):
        found = self._task("index") if self._given[1] is None else self._given[1]
        return None if found is None else int(found)

    @property
    def rpc_layer(self):
        return self._config().get("rpc_layer") if self._given[2] is None else self._given[2]

    @property
    def environment(self):
        return self._given[3] or self._config().get("environment", "")

    def cluster_spec(self):
        return ClusterSpec(self._config().get("cluster", {}))


class SlurmClusterResolver(ClusterResolver):
    """The tasks of a Slurm job step, as many on each node, ranks in the order of the nodes."""

    def __init__(self, jobs=None, port_base=8888, gpus_per_node=None, gpus_per_task=None,
                 tasks_per_node=None, auto_set_gpu=True, rpc_layer="grpc"):  # fmt: skip
        self._rank = _number("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMIX_RANK")
        total = _number("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS")
        self._jobs = {"worker": total} if jobs is None else dict(jobs)
        if sum(self._jobs.values()) != total:
            raise RuntimeError(f"the jobs {self._jobs} have other than the {total} tasks of Slurm")
        self._port, self.rpc_layer = port_base, rpc_layer
        self._each = tasks_per_node
        self.task_type, self.task_id = self.get_task_info()

    def get_task_info(self):
        """The job and the number in it of this task."""
        rank = self._rank
        for job, count in self._jobs.items():
            if rank < count:
                return job, rank
            rank -= count
        raise RuntimeError(f"rank {self._rank} is beyond the tasks of {self._jobs}")

    def cluster_spec(self):
        hosts = _slurm_hosts()
        total = sum(self._jobs.values())
        each = self._each or -(-total // len(hosts))
        each = list(each) if isinstance(each, (list, tuple)) else [each] * len(hosts)
        addresses = [
            f"{host}:{self._port + i}"
            for host, count in zip(hosts, each, strict=False)
            for i in range(count)
        ][:total]
        if len(addresses) < total:
            raise RuntimeError(f"Slurm has {total} tasks, {len(hosts)} nodes with {each} each")
        found, at = {}, 0
        for job, count in self._jobs.items():
            found[job] = addresses[at : at + count]
            at += count
        return ClusterSpec(found)


def _number(*names):
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    raise RuntimeError(f"none of {', '.join(names)} is set: is this a step of a Slurm job?")


def _slurm_hosts():
    names = os.environ.get("SLURM_STEP_NODELIST") or os.environ.get("SLURM_NODELIST")
    if not names:
        raise RuntimeError("SLURM_STEP_NODELIST is not set: is this a step of a Slurm job?")
    try:
        listed = subprocess.run(
            ["scontrol", "show", "hostname", names], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"Slurm does not say which hosts {names} are: {error}") from None
    return listed.split()


class MPIClusterResolver(ClusterResolver):
    """The processes that mpirun started; MPI carries what they send."""

    carrier = "mpi"

    def __init__(self):
        self.task_type, self.task_id = "worker", _tidemark.mpi_world()[0]
        with socket.socket() as held:
            held.bind(("", 0))
            own = f"{socket.gethostname()} {held.getsockname()[1]} {secrets.token_hex(32)}"
        told = [one.split() for one in _tidemark.share_by_mpi(own)]
        is_one_machine = len({host for host, _, _ in told}) == 1
        self._workers = [
            f"{'127.0.0.1' if is_one_machine else host}:{port}" for host, port, _ in told
        ]
        self.secret = told[0][2]

    def cluster_spec(self):
        return ClusterSpec({"worker": self._workers})


def default_resolver():
    """Where the program names none: what TF_CONFIG says, or else who mpirun started."""
    sizes = [os.environ.get(name, "") for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")]
    is_by_mpirun = any(size.isdigit() and int(size) > 1 for size in sizes)
    if is_by_mpirun and not os.environ.get("TF_CONFIG", "").strip():
        return MPIClusterResolver()
    return TFConfigClusterResolver()


def training_group(resolver):
    """(the addresses of all workers by rank, this one's rank); ([], 0) where there is no cluster.

    The chief, if there is one, comes first. An evaluator is on its own.
    """
    spec = resolver.cluster_spec()
    if not spec:
        return [], 0
    unknown = set(spec.jobs) - set(_JOBS)
    if unknown:
        raise ValueError(
            f"Disallowed task_type found in cluster spec. Allowed types are {list(_JOBS)} and the "
            f"cluster spec is {spec}"
        )
    for job in ("chief", "evaluator"):
        if job in spec.jobs and spec.num_tasks(job) > 1:
            raise ValueError(f"There must be at most one {job!r} job")
    kind, index = resolver.task_type, resolver.task_id
    if kind is None or index is None:
        raise ValueError("the cluster is known, but not which task of it this process is")
    if kind == "evaluator":
        return [], 0
    if kind not in spec.jobs:
        raise ValueError(f"`task_type` {kind!r} not found in cluster_spec: {spec}")
    if not 0 <= index < spec.num_tasks(kind):
        raise ValueError(f"The `task_id` {index} exceeds the maximum id of {kind}")
    if kind == "ps":
        raise ValueError("a task of type 'ps' holds parameters for others; it does not train")
    addresses, rank = [], 0
    for job in _TRAINING:
        if job == kind:
            rank = len(addresses) + index
        if job in spec.jobs:
            addresses += spec.job_tasks(job)
    return addresses, rank
