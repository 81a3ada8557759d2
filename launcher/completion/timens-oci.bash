# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion of timens-oci: the commands and options that --help prints, and containers
_timens_oci()
{
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} commands word
	commands=$("$1" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p')

	case $before in
	--bundle | --root) COMPREPLY=($(compgen -d -- "$cur")) && return ;;
	--log | --config | --process | --resources) COMPREPLY=($(compgen -f -- "$cur")) && return ;;
	--format) COMPREPLY=($(compgen -W 'table json' -- "$cur")) && return ;;
	--log-format) COMPREPLY=($(compgen -W 'text json' -- "$cur")) && return ;;
	--cgroup-manager) COMPREPLY=($(compgen -W 'cgroupfs disabled' -- "$cur")) && return ;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$("$1" --help | grep -oE -- '--[a-z][a-z-]*')" -- "$cur"))
		return
	fi
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		if grep -qxF -- "$word" <<<"$commands"; then
			COMPREPLY=($(compgen -W "$("$1" list --quiet 2>/dev/null)" -- "$cur"))
			return
		fi
	done
	COMPREPLY=($(compgen -W "$commands" -- "$cur"))
}
complete -o filenames -F _timens_oci timens-oci
