"""``tf.__internal__.tracking``: objects that know their parts."""
