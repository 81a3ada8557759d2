# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints time.monotonic_ns(), waits 100 ms for a condition, prints it again."""

import threading
import time

before = time.monotonic_ns()
condition = threading.Condition()
with condition:
    condition.wait(0.1)
print(before, time.monotonic_ns())
