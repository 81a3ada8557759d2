#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write strerror(3) of this machine's C library as a C table: usage: error_words.py OUTPUT."""

import json
import os
import sys
from pathlib import Path

LAST = 133  # EHWPOISON, the last that Linux has

with Path(sys.argv[1]).open("w", encoding="ascii") as file:
    words = ",\n".join(json.dumps(os.strerror(code)) for code in range(LAST + 1))
    file.write("#include <stddef.h>\nextern const char *const error_words[];\n")
    file.write("extern const size_t error_words_count;\n")
    file.write(f"const char *const error_words[] = {{\n{words}\n}};\n")
    file.write(f"const size_t error_words_count = {LAST + 1};\n")
