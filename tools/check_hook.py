#!/usr/bin/env python3
"""`tidemark check` as a hook of pre-commit: of Tidemark only modules of pure Python are loaded, so
that nothing has to be built or installed for it."""

import argparse
import sys
import types
from pathlib import Path


def main():
    package = types.ModuleType("tidemark")  # as a folder of modules: its beginning is not run
    package.__path__ = [str(Path(__file__).resolve().parent.parent / "python" / "tidemark")]
    sys.modules["tidemark"] = package
    from tidemark._check import command

    parser = argparse.ArgumentParser(prog="tidemark check", description=command.ABOUT)
    command.add_arguments(parser)
    return command.run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
