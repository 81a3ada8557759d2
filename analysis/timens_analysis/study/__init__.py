# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plan a study and collect its records.

plan (what, in which order) -> arms (how a level is entered) -> runner (asks the zygotes, block by
block) -> journal (records.jsonl).  Nothing here prints; nothing here imports numpy, so that the
collector stays small beside what it measures.
"""
