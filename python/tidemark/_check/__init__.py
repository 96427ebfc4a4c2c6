"""``tidemark check``: patterns in a program's source that cost memory, told before it runs."""
