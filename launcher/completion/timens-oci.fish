# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion of timens-oci: the commands and options that --help prints, and containers
function __timens_oci_commands
    timens-oci --help | string replace -rf -- '^  ([a-z-]+) .*' '$1'
end
function __timens_oci_has_command
    for word in (commandline -opc)[2..-1]
        contains -- $word (__timens_oci_commands); and return 0
    end
    return 1
end
function __timens_oci_after
    contains -- (commandline -opc)[-1] $argv
end
complete -c timens-oci -n 'string match -q -- "-*" (commandline -ct)' -f \
    -a '(timens-oci --help | string match -ar -- "--[a-z][a-z-]*" | sort -u)'
complete -c timens-oci -n 'not __timens_oci_has_command' -f -a '(__timens_oci_commands)'
complete -c timens-oci -n __timens_oci_has_command -f -a '(timens-oci list --quiet 2>/dev/null)'
complete -c timens-oci -n '__timens_oci_after --format' -f -a 'table json'
complete -c timens-oci -n '__timens_oci_after --log-format' -f -a 'text json'
complete -c timens-oci -n '__timens_oci_after --cgroup-manager' -f -a 'cgroupfs disabled'
complete -c timens-oci -n '__timens_oci_after --bundle --root --log --config --process --resources' -F
