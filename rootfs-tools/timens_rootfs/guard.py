# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an archive member may be: the one place that judges hostile archives.

Refused: a path that is absolute or climbs, a link that leads out of the root, a member beneath
such a link, a hard link to anything but an earlier path of the archive, a device node, and
more bytes than --max-size.  Pure: judges headers, touches no file.
"""

from timens_rootfs.errors import RootfsError
from timens_rootfs.tarstream import FLAGS, Member

MAX_LINKS = 40
MAX_PATH_BYTES = 4096
# What one more file costs on a disk at least: a million empty files are a bomb as well.
ENTRY_BYTES = 512
WHITEOUT = ".wh."

Path = tuple[str, ...]


class Budget:
    """How many bytes may be unpacked in all; shared by the layers of one image."""

    def __init__(self, max_bytes: int | None) -> None:
        self.max_bytes = max_bytes
        self.spent = 0

    def spend(self, size: int) -> str | None:
        """Count what one member will take on the disk; a cause once it is too much."""
        self.spent += size
        if self.max_bytes is not None and self.spent > self.max_bytes:
            return f"unpacks to more than --max-size ({self.max_bytes} bytes)"
        return None


class Guard:
    """Judges the members of one archive, or of one layer, in their order."""

    def __init__(
        self,
        archive: object,
        *,
        step: str,
        budget: Budget,
        layer: bool = False,
        whiteouts: bool = True,
    ) -> None:
        self.archive = archive
        self.step = step
        self.budget = budget
        self.layer = layer  # its links and hard links may lead to files of the layers below
        self.whiteouts = whiteouts  # may be there; False where nothing could be hidden
        self.links: dict[Path, str] = {}
        self.seen: set[Path] = set()

    def judge(self, member: Member) -> None:
        """Accept one member, or raise the RootfsError that says what is wrong with it."""
        too_much = self.budget.spend(ENTRY_BYTES + member.size)
        if too_much is not None:
            raise RootfsError(self.step, self.archive, too_much)
        cause = self._cause(member)
        if cause is not None:
            text = f"hostile archive: {member.name!r} {cause}"
            raise RootfsError(self.step, self.archive, text)

    def _cause(self, member: Member) -> str | None:
        path, bad_path = plain_path(member.name)
        if bad_path is not None:
            return bad_path
        if not path and member.kind != "folder":
            return "would replace the root itself"
        if member.kind == "device":
            return "is a device node"
        if member.kind == "sparse":
            return "is stored as a sparse file (pack it again without --sparse)"
        if member.kind not in FLAGS:
            return f"has an unknown {member.kind}"
        if not self.whiteouts and path and path[-1].startswith(WHITEOUT):
            return "is a whiteout"
        if not self._reachable(path[:-1]):
            return "lies beneath a link that leads out of the root"
        if member.kind == "hard link":
            bad_target = self._bad_hard_link(member)
            if bad_target is not None:
                return bad_target
        if member.kind == "link":
            if not member.target or "\0" in member.target:
                return "is a link without a target"
            if not self._stays_inside(path[:-1], member.target):
                return f"is a link out of the root, to {member.target!r}"
            self.links[path] = member.target
        elif not (member.kind == "folder" and path in self.links):
            self.links.pop(path, None)
        self.seen.add(path)
        return None

    def _bad_hard_link(self, member: Member) -> str | None:
        target, bad = plain_path(member.target)
        if bad is not None or not self._reachable(target[:-1]):
            return f"is a hard link out of the root, to {member.target!r}"
        if target not in self.seen and not self.layer:
            return f"is a hard link to {member.target!r}, which the archive does not hold"
        return None

    def _reachable(self, folder: Path) -> bool:
        """Whether a program that follows the archive's own links stays inside on this way.

        An absolute link is fine as a link (containers read it inside the root), but not as the
        way to a plain tar's next member: tar(1) would follow it on the host.  umoci resolves
        every way inside the root, so layers may have it.
        """
        for depth in range(1, len(folder) + 1):
            target = self.links.get(folder[:depth])
            if target is None:
                continue
            if target.startswith("/") and not self.layer:
                return False
            if not self._stays_inside(folder[: depth - 1], target):
                return False
        return True

    def _stays_inside(self, folder: Path, target: str) -> bool:
        todo = list(reversed(_steps(target)))
        done: list[str] = [] if target.startswith("/") else list(folder)
        links = 0
        while todo:
            step = todo.pop()
            if step == "..":
                if not done:
                    return False
                done.pop()
                continue
            done.append(step)
            onward = self.links.get(tuple(done))
            if onward is not None and todo:
                links += 1
                if links > MAX_LINKS:
                    return True  # a loop leads nowhere: whoever follows it gets ELOOP
                done = [] if onward.startswith("/") else done[:-1]
                todo += reversed(_steps(onward))
        return True


def plain_path(name: str) -> tuple[Path, str | None]:
    """The parts of a member's path, and what is wrong with it, if anything.

    "/" alone is the root itself, as "." is: `umoci insert` writes it for an image's root.
    """
    if name.startswith("/") and _steps(name):
        return (), "has an absolute path"
    if "\0" in name:
        return (), "has a zero byte in its path"
    if len(name.encode("utf-8", "surrogateescape")) >= MAX_PATH_BYTES:
        return (), "has a path that is too long"
    parts = tuple(_steps(name))
    if ".." in parts:
        return (), "has a path with '..'"
    return parts, None


def _steps(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
