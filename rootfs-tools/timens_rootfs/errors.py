# SPDX-License-Identifier: LGPL-2.1-or-later
"""The one error of this program: made where the facts are, printed once by cli.main()."""


class RootfsError(Exception):
    """What went wrong with which object, why, and what the user can do about it."""

    def __init__(self, step: str, thing: object, cause: str, hint: str | None = None) -> None:
        super().__init__(f"{step}: {thing}: {cause}")
        self.step = step
        self.thing = str(thing)
        self.cause = cause
        self.hint = hint


def os_cause(error: OSError) -> str:
    """The text of errno alone: RootfsError names the file already."""
    return error.strerror or str(error)
