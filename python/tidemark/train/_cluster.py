"""``tf.train.ClusterSpec``: the addresses of the processes that compute together."""

from __future__ import annotations


class ClusterSpec:
    """The addresses of all tasks of all jobs."""

    def __init__(self, cluster):
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if not isinstance(cluster, dict):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                f"addresses, or a `ClusterSpec`, got {type(cluster).__name__}"
            )
        self._tasks = {}
        for job, tasks in sorted(cluster.items()):
            if isinstance(tasks, dict):
                self._tasks[job] = {int(index): _address(job, at) for index, at in tasks.items()}
            elif isinstance(tasks, (list, tuple)):
                self._tasks[job] = {i: _address(job, at) for i, at in enumerate(tasks)}
            else:
                raise TypeError(f"The tasks for job {job!r} must be a list or dictionary.")

    jobs = property(lambda self: list(self._tasks))

    def _of(self, job):
        if job not in self._tasks:
            raise ValueError(f"No such job in cluster: {job!r}")
        return self._tasks[job]

    def as_dict(self):
        """Lists of addresses by job; where numbers are left out, addresses by number."""
        return {
            job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._tasks.items()
        }

    def num_tasks(self, job_name):
        return len(self._of(job_name))

    def task_indices(self, job_name):
        return sorted(self._of(job_name))

    def task_address(self, job_name, task_index):
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name):
        """The addresses of a job by number; None where a number is left out."""
        tasks = self._of(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def __bool__(self):
        return bool(self._tasks)

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._tasks == other._tasks

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __repr__(self):
        return f"ClusterSpec({self.as_dict()!r})"


def _address(job, given):
    if not isinstance(given, str):
        raise TypeError(f"The addresses of job {job!r} must be strings, got {given!r}")
    return given
