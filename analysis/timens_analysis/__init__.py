# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plan and run a study of what virtual time costs; analyse and report it."""

__version__ = "0.1.0"
