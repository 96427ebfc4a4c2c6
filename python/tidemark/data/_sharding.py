"""Pipelines of which each of several workers has a share: rewritten over a share of the files, or
where the program says ``shard(SHARD_HINT, …)``."""

from __future__ import annotations

from tidemark import _tidemark, nest
from tidemark.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError

HINT = -1  # the number of shards that stands for that of the workers
_UNKNOWN = -2


def hinted(dataset):
    """Where workers are to take their shares. Its elements are nobody's until it is known whose."""

    def elements():
        raise FailedPreconditionError(
            None,
            None,
            "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
            "`tf.distribute.Strategy.experimental_distribute_dataset()` with "
            "`tf.data.experimental.AutoShardPolicy.HINT` policy",
        )
        yield

    found = dataset._next(_tidemark.dataset_from_python(elements, _UNKNOWN))
    found._is_hint = True
    return found


def by_hint(dataset, count, index):
    """Shared out at the hints; all of it where there are none."""
    if dataset._is_hint:
        return by_hint(dataset._parents[0], count, index).shard(count, index)
    if not any(map(_has_hint, dataset._parents)):
        return dataset
    if dataset._make is None:
        raise NotFoundError(None, None, f"{_told(dataset)} cannot be made again behind a shard")
    return dataset._over(*(by_hint(one, count, index) for one in dataset._parents))


def _has_hint(dataset):
    return dataset._is_hint or any(map(_has_hint, dataset._parents))


def reads_files(dataset):
    return dataset._files is not None or any(map(reads_files, dataset._parents))


def by_files(dataset, count, index):
    """Over the files whose number divided by ``count`` leaves ``index``. Raises NotFoundError where
    elements come from something else than files."""
    if dataset._files is not None:
        return dataset._of_files(_names(dataset._files, count, index))
    if dataset._reads_files:
        return dataset._over(_names(dataset._parents[0], count, index))
    if not dataset._parents or dataset._make is None:
        raise NotFoundError(
            None, None, f"Found an unshardable source dataset: {_told(dataset)} does not read files"
        )
    return dataset._over(*(by_files(one, count, index) for one in dataset._parents))


def _told(dataset):
    return f"a dataset of {dataset.element_spec!r}"


def _names(names, count, index):
    """This worker's names. Where they are shuffled it shuffles its own."""
    if not isinstance(names, (list, tuple)) and not hasattr(names, "_is_dataset"):
        names = nest.flatten(names)
    if isinstance(names, (list, tuple)):
        _check_enough(len(names), count)
        return list(names)[index::count]
    if names._made_by and names._made_by[0] == "shuffle":
        return names._over(_names(names._parents[0], count, index))
    there = int(names.cardinality())
    if there >= 0:
        _check_enough(there, count)
    return names.shard(count, index)


def _check_enough(there, count):
    if there < count:
        raise InvalidArgumentError(
            None,
            None,
            f"Could not apply FILE based sharding: the dataset only has {there} file(s), which is "
            f"not enough for the required {count} shards/workers. If you are using datasets with "
            "distribution strategy, consider setting the auto sharding policy to either DATA or "
            "OFF using the `experimental_distribute.auto_shard_policy` option of "
            "`tf.data.Options()`. Or, split your input files into a larger number of small files "
            "such that number of files is greater than number of shards/workers.",
        )
