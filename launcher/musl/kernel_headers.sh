#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# usage: kernel_headers.sh FOLDER CC...  - the folders of the kernel's headers, and no others
set -eu
folder=$1
shift
mkdir -p "$folder"
for name in linux asm asm-generic; do
	file=$(echo "#include <$name/$([ $name = asm-generic ] && echo fcntl || echo types).h>" |
		"$@" -E -M - | tr ' ' '\n' | grep -m 1 "/$name/")
	ln -sfn "${file%/*}" "$folder/$name"
done
