#!/usr/bin/env python3
"""Writes down what TensorFlow makes of tests/python/function_programs*.py and session_programs*.py.

    <python with TensorFlow> tools/record_functions.py [program ...]

Run by hand when programs are added; the tests compare with tests/python/data/tf_functions.json and
tf_sessions.json.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "tests" / "python"
DATA = HERE / "data"


def plain(value):
    """A value as JSON can hold it; floats rounded, tensors as lists."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def main():
    os.environ["FUNCTION_PROGRAMS_ON"] = "tensorflow"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    sys.path.insert(0, str(HERE))
    import function_programs
    import function_programs_binding  # noqa: F401
    import function_programs_checked  # noqa: F401
    import function_programs_composites  # noqa: F401
    import function_programs_control  # noqa: F401
    import function_programs_extension  # noqa: F401
    import function_programs_files  # noqa: F401
    import function_programs_more  # noqa: F401
    import function_programs_names  # noqa: F401
    import function_programs_open  # noqa: F401
    import function_programs_packages  # noqa: F401
    import function_programs_rules  # noqa: F401
    import function_programs_values  # noqa: F401
    import function_programs_world  # noqa: F401
    import session_programs
    import session_programs_composites  # noqa: F401
    import session_programs_meta  # noqa: F401
    import session_programs_more  # noqa: F401
    import session_programs_packages  # noqa: F401
    import session_programs_parts  # noqa: F401
    import session_programs_world  # noqa: F401

    record(function_programs.PROGRAMS, DATA / "tf_functions.json", sys.argv[1:])
    record(session_programs.PROGRAMS, DATA / "tf_sessions.json", sys.argv[1:])


def record(programs, path, names):
    """Writes the results of the programs with these names, or of all, beside the others'."""
    wanted = [name for name in names or programs if name in programs]
    if not wanted:
        return
    results = json.loads(path.read_text()) if path.exists() and names else {}
    for name in wanted:
        try:
            results[name] = plain(programs[name]())
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
            results.pop(name, None)
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
