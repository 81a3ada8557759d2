# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was published, and how ours compares with it.

table4.csv holds the cells of the paper's Table IV as they are printed (of the sleep rows, whose
means are printed with three digits, the means that its text gives).
"""
