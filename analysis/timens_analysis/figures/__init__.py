# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots as plain marks on a sheet; report/svg.py and report/tikz.py draw them."""
