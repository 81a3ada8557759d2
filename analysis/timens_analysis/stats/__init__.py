# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pure statistics: numbers in, dataclasses out.  No files, no printing, no hidden random state."""
