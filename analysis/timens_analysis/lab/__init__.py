# SPDX-License-Identifier: LGPL-2.1-or-later
"""The experiments of the articles, on today's kernel.

One pure module for each: rows that were measured -> a section of the page.  `measure` and
`clock_switch` touch the machine, `folder` the files; cli/lab.py is the command.
"""
