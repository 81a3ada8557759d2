# SPDX-License-Identifier: LGPL-2.1-or-later
"""Start a run, or go on with one: everything between the command line and the runner."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from timens_analysis import __version__
from timens_analysis.errors import UserError
from timens_analysis.study import arms as arms_of_study
from timens_analysis.study import doctor, header, host, metrics, programs, scheduling
from timens_analysis.study.entry import proven
from timens_analysis.study.header import ENVIRONMENT, RECORDS, Study
from timens_analysis.study.journal import FolderLock
from timens_analysis.study.plan import PROFILES, Design, Metric, sleep_workers
from timens_analysis.study.proof import sha256
from timens_analysis.study.runner import Progress, measure

# Without SCHED_FIFO every change of turn may wait for whoever has the CPU.
LONGER_TURNS = 5


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asked for."""

    profile: str
    design: Design
    arms: tuple[str, ...]
    owns: tuple[str, ...]
    metrics: str
    output: Path | None
    rootfs: Path | None
    rootfs_from: str | None
    seed: int | None
    blocks: int | None
    replicates: int
    cpu: int | None
    fifo: bool
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listeners:
    """How a run tells what it does; the command line prints it."""

    say: Callable[[str], None]
    progress: Callable[[Progress], None]


def new_folder(profile: str) -> Path:
    """results/DATE-TIME-PROFILE, counted up when two start in the same second."""
    name = time.strftime("%Y%m%d-%H%M%S-") + profile
    for suffix in ("", *(f"-{i}" for i in range(2, 100))):
        folder = Path("results") / (name + suffix)
        if not folder.exists():
            return folder
    raise UserError("results", name, "a hundred runs started in the same second")


def _choose_metrics(wish: Wish) -> tuple[Metric, ...]:
    """Asked before anything is made: a wrong name must not cost the time to make a root."""
    rows = metrics.ask_bench(programs.find("timens-bench"), "list", "--json")
    return metrics.choose(rows, wish.metrics, PROFILES[wish.profile])


def design_study(
    wish: Wish,
    measured: tuple[Metric, ...],
    how: scheduling.Scheduling,
    say: Callable[[str], None],
) -> Study:
    """From the wish to all that decides what is measured."""
    profile = PROFILES[wish.profile]
    source = wish.rootfs_from or programs.default_source()
    rootfs = (wish.rootfs or programs.default_rootfs(source)).absolute()
    places = arms_of_study.Places(programs.find("timens-run"), rootfs, os.geteuid() == 0)
    arms = arms_of_study.choose(wish.arms, wish.owns, places)
    programs.prepare_rootfs(rootfs, source, say)
    if any(arm.name == "crun" for arm in arms):
        programs.prepare_bundle(places.bundle, rootfs)
    calibration = metrics.ask_bench(places.bench, "calibrate")
    return Study(
        profile=profile.name,
        design=wish.design,
        seed=secrets.randbits(32) if wish.seed is None else wish.seed,
        arms=arms,
        metrics=measured,
        blocks=wish.blocks or profile.blocks,
        replicates=wish.replicates,
        sleepers=sleep_workers(profile, len(arms)),
        batches_per_turn=profile.batches_per_turn * (1 if how.fifo else LONGER_TURNS),
        places=places,
        ns_per_tick=calibration["ns_per_tick"],
        clock_source_of_ticks=calibration["clock_source_of_ticks"],
        bench_sha256=sha256(places.bench),
    )


def _take_folder(folder: Path) -> FolderLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    except OSError as problem:
        raise UserError("results", str(folder), problem.strerror or str(problem)) from problem
    if (folder / ENVIRONMENT).exists() or (folder / RECORDS).exists():
        lock.release()
        raise UserError(
            "results",
            str(folder),
            "there is a run in it already",
            hint=f"timens-study resume {folder}, or choose another folder with --output",
        )
    return lock


def start(wish: Wish, listen: Listeners) -> Path:
    """A new run, from nothing to all its records; returns its folder."""
    folder = wish.output or new_folder(wish.profile)
    how = scheduling.choose(wish.cpu, want_fifo=wish.fifo)
    measured = _choose_metrics(wish)
    if wish.rootfs is not None and wish.rootfs_from is None:
        programs.must_be_rootfs(wish.rootfs)
    made = [above for above in (folder, *folder.parents) if not above.exists()]
    lock = _take_folder(folder)
    try:
        study = design_study(wish, measured, how, listen.say)
        findings = doctor.examine()
        about = host.describe()
        environment = header.compose(
            study,
            folder=folder,
            argv=_reproducing(wish, study.seed),
            tool_version=__version__,
            scheduling=how,
            seen=proven(study, how),
            host=about,
            findings=[asdict(finding) for finding in findings],
            rootfs_digest=programs.rootfs_digest(study.places.rootfs),
        )
        header.write(folder, environment)
        _announce(folder, environment, listen.say)
        with how.beside():
            measure(folder, study, how, listen.progress)
    finally:
        if not (folder / ENVIRONMENT).exists():
            _give_folder_up(folder, made)
        lock.release()
    return folder


def _give_folder_up(folder: Path, made: Sequence[Path]) -> None:
    """Nothing was measured: what was made for the run goes, deepest first; what was there stays."""
    (folder / ".lock").unlink()
    for empty in made:
        with suppress(OSError):  # somebody else has put something in
            empty.rmdir()


def resume(folder: Path, listen: Listeners) -> Path:
    """What is missing of a run that was interrupted, measured as its header says."""
    environment = load_header(folder)
    study = header.study_of(environment)
    lock = FolderLock(folder)
    try:
        if sha256(study.places.bench) != study.bench_sha256:
            raise UserError(
                "resume",
                str(study.places.bench),
                "timens-bench has changed since the run began",
                hint="records of two builds cannot be compared: start a new run",
            )
        how = _same_scheduling(header.scheduling_of(environment))
        _announce(folder, environment, listen.say)
        with how.beside():
            measure(folder, study, how, listen.progress)
    finally:
        lock.release()
    return folder


def load_header(folder: Path) -> dict[str, Any]:
    """environment.json of a folder that this program can go on with."""
    from timens_analysis.load import load_environment

    environment = load_environment(folder)
    if "scheduling" not in environment:
        raise UserError("resume", str(folder), "was not measured by timens-study run")
    return environment


def _same_scheduling(wanted: scheduling.Scheduling) -> scheduling.Scheduling:
    now = scheduling.choose(wanted.cpu, want_fifo=wanted.fifo)
    if wanted.fifo and not now.fifo:
        raise UserError(
            "resume", "SCHED_FIFO", now.why_not or "", hint="resume as the user who started the run"
        )
    return replace(now, why_not=wanted.why_not)


def _reproducing(wish: Wish, seed: int) -> list[str]:
    """The command line that plans the same run once more."""
    return [*wish.argv, *(() if wish.seed is not None else ("--seed", str(seed)))]


def _announce(folder: Path, environment: dict[str, Any], say: Callable[[str], None]) -> None:
    how = environment["scheduling"]
    why = f" ({how['why_not']})" if how["why_not"] else ""
    say(f"results in {folder}; seed {environment['seed']}")
    say(
        f"{len(environment['arms'])} arms: "
        + ", ".join(arm["name"] for arm in environment["arms"])
        + f"; {len(environment['metrics'])} metrics, {environment['blocks']} blocks"
    )
    equal = _equal_in_all_arms(environment["arms"])
    say(f"CPU {how['cpu']}, {how['policy']}{why}; {equal}")


def _equal_in_all_arms(arms: Sequence[Mapping[str, Any]]) -> str:
    elsewhere = [arm["name"] for arm in arms if arm["cgroup"] != arms[0]["cgroup"]]
    if elsewhere:
        return f"the same binary and scheduler in all arms; in another cgroup: {elsewhere}"
    return "the same binary, cgroup and scheduler in all arms"
