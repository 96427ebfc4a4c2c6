"""``keras.callbacks.BackupAndRestore`` over several workers: the first one writes, all go on alike.

Keras has every worker write and read the same two files, weights and epoch, one after the other:
a worker that is killed in between leaves a pair that does not fit together. Under a strategy of
several workers the first one writes the weights under a name of their own and then, as a whole, the
file that names them; what is restored it hands to the others. Keras itself stays as it is.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import tempfile


def _group_of(model):
    """The group of workers that trains the model; None where it is one alone."""
    strategy = getattr(model, "_distribute_strategy", None)
    group = getattr(strategy, "_group", None)
    return group if group is not None and group.size > 1 else None


def _alone(method):
    """The method of Keras where there is one worker, the other one where there are several."""

    def decorate(of_workers):
        @functools.wraps(method)
        def chosen(self, *args, **kwargs):
            group = _group_of(self.model)
            if group is None:
                return method(self, *args, **kwargs)
            return of_workers(self, group, method)

        return chosen

    return decorate


def _save(callback, group, keras_save):
    """All save, as what is read of a model may be a sum over workers; the first one's is kept."""
    kept = callback._weights_path, callback._training_metadata_path
    folder = callback.backup_dir
    if group.rank == 0:
        os.makedirs(folder, exist_ok=True)
        place = tempfile.mkdtemp(prefix="writing-", dir=folder)
    else:
        place = tempfile.mkdtemp(prefix="tidemark-worker-")
    callback._weights_path = os.path.join(place, "latest.weights.h5")
    callback._training_metadata_path = os.path.join(place, "training_metadata.json")
    try:
        keras_save(callback)
        if group.rank == 0:
            _commit(place, folder, kept[1])
    finally:
        callback._weights_path, callback._training_metadata_path = kept
        shutil.rmtree(place, ignore_errors=True)
    group.barrier()


def _commit(place, folder, metadata_path):
    with open(os.path.join(place, "training_metadata.json")) as file:
        metadata = json.load(file)
    name = f"{os.path.basename(place).replace('writing-', 'epoch-')}.weights.h5"
    os.replace(os.path.join(place, "latest.weights.h5"), os.path.join(folder, name))
    beside = os.path.join(place, "metadata")
    with open(beside, "w") as file:
        json.dump({**metadata, "weights": name}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, metadata_path)  # from here on the new pair counts
    for entry in os.scandir(folder):
        is_old = entry.name.startswith("epoch-") and entry.name != name
        if is_old or (entry.name.startswith("writing-") and entry.path != place):
            shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)


def _metadata(path):
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _load(callback, group, keras_load):
    found = _metadata(callback._training_metadata_path) if group.rank == 0 else None
    first = json.loads(group.exchange(json.dumps(found).encode())[0])
    if first is None:
        return
    model = callback.model
    if model.optimizer is not None and not model.optimizer.built:
        with model._distribute_strategy.scope():
            model.optimizer.build(model.trainable_variables)
    if group.rank == 0:
        kept = callback._weights_path
        callback._weights_path = os.path.join(callback.backup_dir, first.get("weights", ""))
        try:
            keras_load(callback)
        finally:
            callback._weights_path = kept
    group.barrier()
    variables = list(model.variables)
    if model.optimizer is not None:
        variables += [v for v in model.optimizer.variables if all(v is not w for w in variables)]
    for variable in variables:
        if variable.dtype != "string":
            value = group.broadcast([variable.value.value()], 0)
            variable.value.assign(value)
    model._initial_epoch = first["epoch"]


def _end(callback, group, keras_end):
    if group.rank == 0:
        keras_end(callback)
    group.barrier()


def guard_backup(module):
    cls = module.BackupAndRestore
    cls._save_model = _alone(cls._save_model)(_save)
    cls._load_model = _alone(cls._load_model)(_load)
    cls.on_train_end = _alone(cls.on_train_end)(_end)


GUARDS = {"keras.src.callbacks.backup_and_restore": guard_backup}
