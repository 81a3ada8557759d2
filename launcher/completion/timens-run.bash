# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion of timens-run; the options are those that --help prints
_timens_run()
{
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local namespaces='cgroup ipc mnt net pid time user uts'

	case $before in
	--proc | --sys) COMPREPLY=($(compgen -W 'oci plain none' -- "$cur")) ;;
	--dev) COMPREPLY=($(compgen -W 'oci none' -- "$cur")) ;;
	--net) COMPREPLY=($(compgen -W 'none host pasta' -- "$cur")) ;;
	--share | --only) COMPREPLY=($(compgen -W "$namespaces" -- "$cur")) ;;
	--seccomp) COMPREPLY=($(compgen -W "default unconfined" -f -- "$cur")) ;;
	--timeline-mode) COMPREPLY=($(compgen -W 'pause wall' -- "$cur")) ;;
	*)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "$("$1" --help | grep -oE -- '--[a-z][a-z-]*')" -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
		fi
		;;
	esac
}
complete -o filenames -F _timens_run timens-run
