"""Objects that know the variables and objects they hold: ``tf.Module`` and what is under it."""
