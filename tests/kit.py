# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of timens-run share beside their fixtures."""

USER_ID = 65533  # has no name and no ranges
RANGE_USER_ID = 61234  # gets a name and ranges in a private /etc
RANGE_START, RANGE_COUNT = 700_000, 65_536
