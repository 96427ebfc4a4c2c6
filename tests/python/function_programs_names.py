"""More of them: names that programs and tests written for TensorFlow look for."""


from function_programs import program, tf

v1 = tf.compat.v1


@program
def what_creators_of_variables_are_given():
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(sorted(kwargs))
        kwargs["initial_value"] = 5.0
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        variable = tf.Variable(1.0, trainable=False, name="v")
    return [seen, variable, variable.trainable, variable.name]
