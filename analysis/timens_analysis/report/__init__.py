# SPDX-License-Identifier: LGPL-2.1-or-later
"""An analysis as pages and tables: each module turns it into one format, as a string."""
