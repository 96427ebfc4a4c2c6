"""Alert rules for Prometheus over the numbers that ``tf.memory.prometheus()`` exports."""

from __future__ import annotations

RULES = """\
groups:
  - name: tidemark
    rules:
      - alert: TidemarkMemoryGrows
        expr: >-
          (deriv(tidemark_memory_bytes{state="live"}[2h]) * 86400
          > on (instance, job) 0.1 * tidemark_limit_bytes)
          and on (instance, job) min_over_time(tidemark_memory_bytes{state="live"}[1h])
          > max_over_time(tidemark_memory_bytes{state="live"}[1h] offset 2h)
        for: 30m
        labels: {severity: warning}
        annotations:
          summary: Tensors of {{ $labels.instance }} grow by {{ $value | humanize1024 }}B a day
          description: >-
            In each of the last hours there was more than before. `tidemark watch --record FILE PID`
            on that machine tells the line and the root; `tidemark diff` compares with a recording
            of the release before.
      - alert: TidemarkLimitWithinADay
        expr: >-
          predict_linear(tidemark_memory_bytes{state="live"}[3h], 86400)
          > on (instance, job) tidemark_limit_bytes
        for: 30m
        labels: {severity: critical}
        annotations:
          summary: "{{ $labels.instance }} reaches its memory limit within a day at this rate"
      - alert: TidemarkNearLimit
        expr: >-
          sum by (instance, job) (tidemark_memory_bytes{state=~"live|planned"})
          > on (instance, job) 0.9 * tidemark_limit_bytes
        for: 5m
        labels: {severity: critical}
        annotations:
          summary: "{{ $labels.instance }} uses over nine tenths of its memory limit"
      - alert: TidemarkForeignMemoryGrows
        expr: >-
          deriv(tidemark_memory_bytes{state="not_ours"}[6h]) * 86400
          > on (instance, job) 0.1 * tidemark_limit_bytes
        for: 2h
        labels: {severity: warning}
        annotations:
          summary: >-
            Memory of {{ $labels.instance }} that no tensor has grows; tracemalloc looks there
"""
