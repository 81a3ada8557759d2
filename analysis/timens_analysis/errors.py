# SPDX-License-Identifier: LGPL-2.1-or-later
"""The one kind of failure that a user is told about: printed once, by cli.main()."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can understand and often mend.

    cli.main() prints `timens-study: SUBJECT: OBJECT: CAUSE`, then `hint: HINT` when there is one,
    and exits with `status`.
    """

    def __init__(
        self, subject: str, obj: str, cause: str, *, hint: str | None = None, status: int = 1
    ) -> None:
        super().__init__(f"{subject}: {obj}: {cause}")
        self.subject = subject
        self.obj = obj
        self.cause = cause
        self.hint = hint
        self.status = status
