"""``tf.compat.v1.train.Optimizer``: gradients, what is kept beside each variable, and updates."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._trackable.tracking import Trackable
from tidemark._v1.graph import GraphKeys, current_place, get_default_graph
from tidemark._v1.scopes import group
from tidemark._v1.variables import RefVariable


def is_variable(value):
    return isinstance(value, (RefVariable, _tidemark.VariableBase))


def _key(variable):
    return id(variable)


def called(value):
    return value() if callable(value) else value


def summed(gradient):
    """Rows of a sparse gradient, each index once: (indices, rows)."""
    indices, positions = tf.unique(gradient.indices)
    rows = tf.math.unsorted_segment_sum(gradient.values, positions, tf.size(indices))
    return indices, rows


class Optimizer(Trackable):
    """Subclasses say how one variable is updated, by ``_apply_dense`` and ``_apply_sparse``."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._slots = {}  # slot name → {variable: slot}; both live as long as the optimizer
        self._others = {}  # (name, of a graph or None) → variable that belongs to no other
        self._awaited = {}  # (slot name, key of a variable) → where a checkpoint has the slot

    def get_name(self):
        return self._name

    # --- gradients ---------------------------------------------------------------------------

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP,
                 aggregation_method=None, colocate_gradients_with_ops=False, name=None,
                 grad_loss=None):  # fmt: skip
        """An operation that updates the variables once so that the loss gets smaller."""
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
            grad_loss,
        )  # fmt: skip
        if not any(gradient is not None for gradient, _ in pairs):
            names = [str(variable) for _, variable in pairs]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {names} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP,
                          aggregation_method=None, colocate_gradients_with_ops=False,
                          grad_loss=None):  # fmt: skip
        """Pairs of a gradient, or None, and its variable."""
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH. Not {gate_gradients}"
            )
        if callable(loss):
            return self._by_tape(loss, var_list, grad_loss)
        if current_place() is None and not _tidemark.is_tracing():
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        variables = var_list
        if variables is None:
            graph = get_default_graph()
            variables = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
        for variable in variables:
            if not is_variable(variable):
                raise TypeError(f"Argument is not a tf.Variable: {variable}")
        if not variables:
            raise ValueError("No variables to optimize.")
        from tidemark._v1.gradients import gradients  # loaded on first use

        found = gradients(loss, variables, grad_ys=grad_loss)
        return list(zip(found, variables, strict=True))

    def _by_tape(self, loss, var_list, grad_loss):
        with tf.GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        variables = tape.watched_variables() if var_list is None else var_list
        variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
        found = tape.gradient(value, variables, grad_loss)
        return list(zip(found, variables, strict=True))

    # --- updates -----------------------------------------------------------------------------

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that applies the gradients; it counts ``global_step`` up."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        for gradient, variable in pairs:
            if not is_variable(variable):
                raise TypeError(f"Variable must be a tf.Variable: {variable}")
            if gradient is not None and not isinstance(gradient, (IndexedSlices, tf.Tensor)):
                tf.convert_to_tensor(gradient)  # raises what is wrong with it
        used = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not used:
            names = [variable.name for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        self._create_slots([variable for _, variable in used])
        self._prepare()
        updates = [self._update(gradient, variable) for gradient, variable in used]
        done = self._finish(updates, name or self._name)
        if global_step is not None:
            if current_place() is None:
                global_step.assign_add(1)
            else:
                with tf.control_dependencies([done]):
                    done = group(global_step.assign_add(1), name=name or self._name)
        if done is not None:
            get_default_graph().add_to_collection(GraphKeys.TRAIN_OP, done)
        return done

    def _update(self, gradient, variable):
        if isinstance(gradient, IndexedSlices):
            done = self._apply_sparse(*summed(gradient), variable)
        else:
            gradient = tf.convert_to_tensor(gradient)
            if gradient.dtype != variable.dtype:
                gradient = tf.cast(gradient, variable.dtype)
            done = self._apply_dense(gradient, variable)
        constraint = getattr(variable, "constraint", None)
        if constraint is None:
            return done
        with tf.control_dependencies([done] if current_place() is not None else ()):
            return variable.assign(constraint(variable.read_value()))

    def _create_slots(self, variables):
        """Makes what is kept beside the variables."""

    def _prepare(self):
        """Makes tensors of the numbers the optimizer was made with."""

    def _finish(self, updates, name):
        return group(*updates, name=name)

    def _apply_dense(self, gradient, variable):
        raise NotImplementedError

    def _apply_sparse(self, indices, rows, variable):
        raise NotImplementedError

    def _number(self, value, variable):
        return tf.cast(called(value), variable.dtype)

    # --- what is kept beside a variable ------------------------------------------------------

    def get_slot(self, var, name):
        """What is kept beside the variable under this name; None."""
        found = self._slots.get(name, {}).get(_key(var))
        return None if found is None else found[1]

    def get_slot_names(self):
        return sorted(self._slots)

    def variables(self):
        """Everything the optimizer keeps."""
        slots = [slot for named in self._slots.values() for _, slot in named.values()]
        return sorted([*slots, *self._others.values()], key=lambda v: v.name)

    def _slot(self, variable, initial, slot_name, label):
        named = self._slots.setdefault(slot_name, {})
        if _key(variable) not in named:
            made = _beside(variable, initial, self._free_name(variable, label))
            named[_key(variable)] = (variable, made)
            place = self._awaited.pop((slot_name, _key(variable)), None)
            if place is not None:
                place.restore(made)
        return named[_key(variable)][1]

    def _free_name(self, variable, label):
        """What a slot is called: a second one of the same label has a number behind it."""
        key, name = _key(variable), f"{variable.name.partition(':')[0]}/{label}"
        kept = [named[key][1].name for named in self._slots.values() if key in named]
        taken = {slot.partition(":")[0] for slot in kept}
        free, count = name, 0
        while free in taken and not isinstance(variable, RefVariable):  # graphs number names
            count += 1
            free = f"{name}_{count}"
        return free

    def _zeros_slot(self, variable, slot_name, label):
        return self._slot(variable, lambda: _filled(variable, 0.0), slot_name, label)

    def _filled_slot(self, variable, value, slot_name, label):
        return self._slot(variable, lambda: _filled(variable, value), slot_name, label)

    def _other(self, name, initial, like):
        """A variable that belongs to no other."""
        key = _other_key(name)
        if key not in self._others:
            self._others[key] = _beside(like, lambda: tf.cast(initial, like.dtype), name)
        return self._others[key]

    def _get_other(self, name):
        return self._others[_other_key(name)]

    # --- in checkpoints ----------------------------------------------------------------------

    def _checkpoint_parts(self):
        """What belongs to no variable; slots are asked for by name."""
        _, place = _other_key("")
        return {name: made for (name, of), made in self._others.items() if of == place}

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        """Gives a slot the value it has in a checkpoint: now, or when it is made."""
        slot = self.get_slot(variable, slot_name)
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._awaited[slot_name, _key(variable)] = slot_variable_position
            if not isinstance(variable, RefVariable):
                self._create_slots([variable])


def _other_key(name):
    """Graphs have variables of their own, and so have programs that compute at once."""
    place = current_place()
    return name, None if place is None else place.graph._shared.id


def _filled(variable, value):
    if variable.shape.is_fully_defined():
        return tf.fill(variable.shape.as_list(), tf.cast(value, variable.dtype))
    return tf.fill(tf.shape(variable.initialized_value()), tf.cast(value, variable.dtype))


def _beside(variable, initial, name):
    if not isinstance(variable, RefVariable):
        return tf.Variable(initial(), trainable=False, name=name)
    with tf.name_scope(""):
        return RefVariable(initial, trainable=False, name=name)


def scatter_add(variable, indices, rows):
    return variable.scatter_add(IndexedSlices(rows, indices))


def scatter_sub(variable, indices, rows):
    return variable.scatter_sub(IndexedSlices(rows, indices))


def scatter_update(variable, indices, rows):
    return variable.scatter_update(IndexedSlices(rows, indices))
