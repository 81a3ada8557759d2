# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slurm: jobs whose clocks come from the bundle, on a cluster of two nodes on the loopback."""

import shlex
from pathlib import Path

import pytest
from test_engines import DAY_S, UPTIME

from conftest import Host, start_server

CONTRIB = Path("/opt/timens/source/contrib")
BUNDLE = "/srv/bundle"
STEP_S = 0.01  # /proc/uptime counts in hundredths
NODES = ("n0", "n1")
SLURM_CONF = """
ClusterName=timens
SlurmctldHost=timens-engines(127.0.0.1)
SlurmUser=root
SlurmdUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd.%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
KillWait=2
NodeName=n0 NodeAddr=127.0.0.1 Port=17001 NodeHostname=timens-engines CPUs=1
NodeName=n1 NodeAddr=127.0.0.1 Port=17002 NodeHostname=timens-engines CPUs=1
PartitionName=all Nodes=n0,n1 Default=YES State=UP
"""
PREPARE = f"""
set -e
cp {CONTRIB}/slurm-oci.conf /etc/slurm/oci.conf
echo CgroupPlugin=disabled >/etc/slurm/cgroup.conf
echo {shlex.quote(SLURM_CONF)} >/etc/slurm/slurm.conf
mkdir -p /run/munge /run/user/0 /var/spool/slurmctld {BUNDLE}
chown munge /run/munge
runuser -u munge -- munged
slurmctld
for node in {" ".join(NODES)}; do slurmd -N $node; done
cd {BUNDLE}
timens-oci spec
sed -i 's#"path": "rootfs"#"path": "/srv/bb"#' config.json
sed -i '0,/{{/s##{{ "annotations": {{ "run.timens.uptime": "49d" }},#' config.json
"""


@pytest.fixture(scope="module")
def slurm(host: Host) -> Host:
    host.says(PREPARE)
    start_server(host, "true", "sinfo -h -t idle -o %D | grep -qx 2")
    return host


def check_uptimes(told: str, elapsed_s: float) -> None:
    """Each node says its name and uptime, which began at 49 days after the job was asked for."""
    lines = sorted(line.split() for line in told.splitlines())
    assert [name for name, *_ in lines] == list(NODES)
    for _, uptime_s, _ in lines:
        assert 49 * DAY_S <= float(uptime_s) <= 49 * DAY_S + elapsed_s + STEP_S


def tell(what: str) -> str:
    return f"sh -c 'echo {what} $(cat /proc/uptime)'"


@pytest.mark.offsets
@pytest.mark.feature("Slurm", "run with run.timens.uptime=0: up 0 min")
def test_srun_on_two_nodes_has_the_clocks_of_the_bundle(slurm: Host):
    before = slurm.uptime_s(UPTIME)
    told = slurm.says(f"srun -N2 --container={BUNDLE} /bin/{tell('$SLURMD_NODENAME')}")
    check_uptimes(told, slurm.uptime_s(UPTIME) - before)


@pytest.mark.offsets
@pytest.mark.feature("Slurm", "jobs of an array")
def test_jobs_of_an_array_have_the_clocks_of_the_bundle(slurm: Host):
    step = f"srun --container={BUNDLE} /bin/{tell('n$SLURM_ARRAY_TASK_ID')}"
    before = slurm.uptime_s(UPTIME)
    slurm.says(f"sbatch --wait --array=0-1 -o /tmp/array.%a --wrap {shlex.quote(step)}")
    check_uptimes(slurm.says("cat /tmp/array.*"), slurm.uptime_s(UPTIME) - before)


@pytest.mark.feature("Slurm", "a cancelled job leaves no container")
def test_a_cancelled_job_leaves_nothing(slurm: Host):
    """The program heeds SIGTERM; one that does not is PID 1, whom the kernel spares it."""
    program = "/bin/sh -c 'trap exit TERM; sleep 100 & wait'"
    step = f"srun --container={BUNDLE} {program}"
    slurm.says(f"sbatch -J cancel -o /dev/null --wrap {shlex.quote(step)}")
    slurm.says("for i in $(seq 60); do pgrep -fx 'sleep 100' && exit; sleep 0.2; done; exit 1")
    slurm.says("scancel -n cancel")
    gone = "! pgrep -fx 'sleep 100' && [ -z \"$(ls -A /run/user/0/slurm)\" ]"
    slurm.says(f"for i in $(seq 40); do {gone} && exit; sleep 0.5; done; ls -R /run/user/0; exit 1")


def test_status_of_the_program_is_the_status_of_the_job(slurm: Host):
    assert slurm.run(f"srun -N1 --container={BUNDLE} /bin/sh -c 'exit 7'").returncode == 7
