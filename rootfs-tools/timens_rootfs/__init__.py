# SPDX-License-Identifier: LGPL-2.1-or-later
"""From any image to a root filesystem: pull, unpack, create, add to, check.

Imports the standard library only.  The work is done by mmdebstrap, skopeo, umoci and tar,
which tools.py finds and names in its errors.
"""

__version__ = "0.1.0"
