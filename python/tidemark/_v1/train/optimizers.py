"""The optimizers of TensorFlow 1, each as its paper and TensorFlow's kernels define it."""

from __future__ import annotations

import tidemark as tf
from tidemark._v1.graph import current_place
from tidemark._v1.scopes import group
from tidemark._v1.train.optimizer import Optimizer, scatter_add, scatter_sub, scatter_update


def _after(update):
    """A context for what has to see a variable updated; eager code does so by itself."""
    return tf.control_dependencies([update] if current_place() is not None else ())


class GradientDescentOptimizer(Optimizer):
    """``v -= learning_rate * gradient``."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _apply_dense(self, gradient, variable):
        return variable.assign_sub(self._number(self._learning_rate, variable) * gradient)

    def _apply_sparse(self, indices, rows, variable):
        return scatter_sub(variable, indices, self._number(self._learning_rate, variable) * rows)


class MomentumOptimizer(Optimizer):
    """Gradients add up to a speed that fades."""

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum",
                 use_nesterov=False):  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, variables):
        for variable in variables:
            self._zeros_slot(variable, "momentum", self._name)

    def _step(self, gradient, speed, variable):
        rate = self._number(self._learning_rate, variable)
        if self._use_nesterov:
            return rate * (gradient + self._number(self._momentum, variable) * speed)
        return rate * speed

    def _apply_dense(self, gradient, variable):
        slot = self.get_slot(variable, "momentum")
        speed = slot.assign(slot * self._number(self._momentum, variable) + gradient)
        return variable.assign_sub(self._step(gradient, speed, variable))

    def _apply_sparse(self, indices, rows, variable):
        slot = self.get_slot(variable, "momentum")
        speed = tf.gather(slot, indices) * self._number(self._momentum, variable) + rows
        kept = scatter_update(slot, indices, speed)
        return group_of(kept, scatter_sub(variable, indices, self._step(rows, speed, variable)))


def group_of(*updates):
    """One update that stands for several."""
    return group(*updates) if current_place() is not None else updates[-1]


class AdagradOptimizer(Optimizer):
    """Steps shrink with the sum of the squares of the gradients."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False,
                 name="Adagrad"):  # fmt: skip
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _create_slots(self, variables):
        for variable in variables:
            self._filled_slot(variable, self._initial, "accumulator", self._name)

    def _apply_dense(self, gradient, variable):
        squares = self.get_slot(variable, "accumulator").assign_add(tf.square(gradient))
        rate = self._number(self._learning_rate, variable)
        return variable.assign_sub(rate * gradient * tf.math.rsqrt(squares))

    def _apply_sparse(self, indices, rows, variable):
        slot = self.get_slot(variable, "accumulator")
        squares = tf.gather(slot, indices) + tf.square(rows)
        kept = scatter_update(slot, indices, squares)
        rate = self._number(self._learning_rate, variable)
        step = rate * rows * tf.math.rsqrt(squares)
        return group_of(kept, scatter_sub(variable, indices, step))


class AdamOptimizer(Optimizer):
    """Means of the gradients and of their squares, corrected for their start at zero."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8,
                 use_locking=False, name="Adam"):  # fmt: skip
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, variables):
        first = min(variables, key=lambda v: v.name)
        self._other("beta1_power", called_number(self._beta1), first)
        self._other("beta2_power", called_number(self._beta2), first)
        for variable in variables:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _get_beta_accumulators(self):
        return self._get_other("beta1_power"), self._get_other("beta2_power")

    def _numbers(self, variable):
        power1, power2 = (tf.cast(p, variable.dtype) for p in self._get_beta_accumulators())
        rate = self._number(self._lr, variable) * tf.sqrt(1 - power2) / (1 - power1)
        beta1, beta2 = self._number(self._beta1, variable), self._number(self._beta2, variable)
        return rate, beta1, beta2, self._number(self._epsilon, variable)

    def _apply_dense(self, gradient, variable):
        rate, beta1, beta2, epsilon = self._numbers(variable)
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        mean = m.assign(m * beta1 + gradient * (1 - beta1))
        squares = v.assign(v * beta2 + tf.square(gradient) * (1 - beta2))
        return variable.assign_sub(rate * mean / (tf.sqrt(squares) + epsilon))

    def _apply_sparse(self, indices, rows, variable):
        rate, beta1, beta2, epsilon = self._numbers(variable)
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        with _after(m.assign(m * beta1)):
            mean = scatter_add(m, indices, rows * (1 - beta1))
        with _after(v.assign(v * beta2)):
            squares = scatter_add(v, indices, tf.square(rows) * (1 - beta2))
        return variable.assign_sub(rate * mean / (tf.sqrt(squares) + epsilon))

    def _finish(self, updates, name):
        power1, power2 = self._get_beta_accumulators()
        with tf.control_dependencies(updates if current_place() is not None else ()):
            first = power1.assign(power1 * self._number(self._beta1, power1))
            second = power2.assign(power2 * self._number(self._beta2, power2))
        return group(*updates, first, second, name=name)


def called_number(value):
    return value() if callable(value) else value


class RMSPropOptimizer(Optimizer):
    """Gradients over the root of the mean of their squares, with momentum."""

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False,
                 centered=False, name="RMSProp"):  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._decay = learning_rate, decay
        self._momentum, self._epsilon, self._centered = momentum, epsilon, centered

    def _create_slots(self, variables):
        for variable in variables:
            self._filled_slot(variable, 1.0, "rms", f"{self._name}")
            if self._centered:
                self._zeros_slot(variable, "mg", self._name)
            self._zeros_slot(variable, "momentum", self._name)

    def _apply_dense(self, gradient, variable):
        decay = self._number(self._decay, variable)
        rms, momentum = self.get_slot(variable, "rms"), self.get_slot(variable, "momentum")
        squares = rms.assign(rms * decay + tf.square(gradient) * (1 - decay))
        below = squares + self._number(self._epsilon, variable)
        if self._centered:
            mg = self.get_slot(variable, "mg")
            below = below - tf.square(mg.assign(mg * decay + gradient * (1 - decay)))
        rate = self._number(self._learning_rate, variable)
        fading = momentum * self._number(self._momentum, variable)
        return variable.assign_sub(momentum.assign(fading + rate * gradient * tf.math.rsqrt(below)))

    def _apply_sparse(self, indices, rows, variable):
        decay = self._number(self._decay, variable)
        rms, momentum = self.get_slot(variable, "rms"), self.get_slot(variable, "momentum")
        squares = tf.gather(rms, indices) * decay + tf.square(rows) * (1 - decay)
        kept = [scatter_update(rms, indices, squares)]
        below = squares + self._number(self._epsilon, variable)
        if self._centered:
            mg = self.get_slot(variable, "mg")
            means = tf.gather(mg, indices) * decay + rows * (1 - decay)
            kept.append(scatter_update(mg, indices, means))
            below = below - tf.square(means)
        rate = self._number(self._learning_rate, variable)
        speed = tf.gather(momentum, indices) * self._number(self._momentum, variable)
        speed = speed + rate * rows * tf.math.rsqrt(below)
        kept.append(scatter_update(momentum, indices, speed))
        return group_of(*kept, scatter_sub(variable, indices, speed))


class AdadeltaOptimizer(Optimizer):
    """Steps as large as recent steps were, over as large as recent gradients were."""

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False,
                 name="Adadelta"):  # fmt: skip
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, variables):
        for variable in variables:
            self._zeros_slot(variable, "accum", self._name)
            self._zeros_slot(variable, "accum_update", self._name)

    def _step(self, gradient, squares, steps, variable):
        """(the step, the mean of the squares of steps then)."""
        rho, epsilon = self._number(self._rho, variable), self._number(self._epsilon, variable)
        step = gradient * tf.sqrt(steps + epsilon) * tf.math.rsqrt(squares + epsilon)
        return step, steps * rho + tf.square(step) * (1 - rho)

    def _apply_dense(self, gradient, variable):
        rho = self._number(self._rho, variable)
        accum = self.get_slot(variable, "accum")
        steps = self.get_slot(variable, "accum_update")
        squares = accum.assign(accum * rho + tf.square(gradient) * (1 - rho))
        step, later = self._step(gradient, squares, tf.convert_to_tensor(steps), variable)
        kept = steps.assign(later)
        return group_of(kept, variable.assign_sub(self._number(self._lr, variable) * step))

    def _apply_sparse(self, indices, rows, variable):
        rho = self._number(self._rho, variable)
        accum = self.get_slot(variable, "accum")
        steps = self.get_slot(variable, "accum_update")
        squares = tf.gather(accum, indices) * rho + tf.square(rows) * (1 - rho)
        step, later = self._step(rows, squares, tf.gather(steps, indices), variable)
        return group_of(
            scatter_update(accum, indices, squares),
            scatter_update(steps, indices, later),
            scatter_sub(variable, indices, self._number(self._lr, variable) * step),
        )


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader: weights that matter little become zero."""

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="Ftrl", accum_name=None, linear_name=None,
                 l2_shrinkage_regularization_strength=0.0, beta=None):  # fmt: skip
        super().__init__(use_locking, name)
        for what, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{what} {value} needs to be greater than or equal to zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._initial = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage, self._beta = l2_shrinkage_regularization_strength, beta or 0.0
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, variables):
        for variable in variables:
            self._filled_slot(variable, self._initial, "accum", self._accum_name or self._name)
            self._zeros_slot(variable, "linear", self._linear_name or self._name)

    def _step(self, gradient, value, squares, linear, variable):
        """(squares, linear, value) after one step."""
        number = lambda given: self._number(given, variable)  # noqa: E731
        rate, power = number(self._learning_rate), number(-self._power)
        shrunk = gradient + 2.0 * number(self._shrinkage) * value if self._shrinkage else gradient
        later = squares + tf.square(gradient)
        raised = tf.pow(later, power)
        linear = linear + shrunk - (raised - tf.pow(squares, power)) / rate * value
        quadratic = (raised + number(self._beta)) / rate + 2.0 * number(self._l2)
        l1 = number(self._l1)
        pulled = (tf.sign(linear) * l1 - linear) / quadratic
        return later, linear, tf.where(tf.abs(linear) > l1, pulled, tf.zeros_like(pulled))

    def _apply_dense(self, gradient, variable):
        accum, linear = self.get_slot(variable, "accum"), self.get_slot(variable, "linear")
        now = [tf.convert_to_tensor(v) for v in (variable, accum, linear)]
        squares, lines, value = self._step(gradient, *now, variable)
        return group_of(accum.assign(squares), linear.assign(lines), variable.assign(value))

    def _apply_sparse(self, indices, rows, variable):
        accum, linear = self.get_slot(variable, "accum"), self.get_slot(variable, "linear")
        now = [tf.gather(v, indices) for v in (variable, accum, linear)]
        squares, lines, value = self._step(rows, *now, variable)
        return group_of(
            scatter_update(accum, indices, squares),
            scatter_update(linear, indices, lines),
            scatter_update(variable, indices, value),
        )
