# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion of timens-run; the options are those that --help prints
function __timens_run_after
    contains -- (commandline -opc)[-1] $argv
end
complete -c timens-run -n 'string match -q -- "-*" (commandline -ct)' -f \
    -a '(timens-run --help | string match -ar -- "--[a-z][a-z-]*" | sort -u)'
complete -c timens-run -n '__timens_run_after --proc --sys' -f -a 'oci plain none'
complete -c timens-run -n '__timens_run_after --dev' -f -a 'oci none'
complete -c timens-run -n '__timens_run_after --net' -f -a 'none host pasta'
complete -c timens-run -n '__timens_run_after --share --only' -f -a 'cgroup ipc mnt net pid time user uts'
complete -c timens-run -n '__timens_run_after --seccomp' -a "default unconfined"
complete -c timens-run -n '__timens_run_after --timeline-mode' -f -a 'pause wall'
