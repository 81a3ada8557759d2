# SPDX-License-Identifier: LGPL-2.1-or-later
"""python3 -m timens_rootfs"""

import sys

from timens_rootfs.cli import main

sys.exit(main())
