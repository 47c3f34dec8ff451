#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# quilt.sh ARGUMENT...: run quilt on the patches of series/, in out/quilt, a copy of the pristine kernel:
#	dev/quilt.sh push immediate/kfence.patch
#	dev/quilt.sh edit kernel/module/main.c
#	dev/quilt.sh refresh
set -euo pipefail
. "$(dirname "$0")/lib.sh"

copy_base "$out/quilt"
if [[ ${1:-} == new ]]; then	# after those before it in the order
	touch "$top/series/$2"
	set -- push "$2"
fi
patch_names >"$out/quilt.list"
export QUILT_PATCHES=$top/series QUILT_SERIES=$out/quilt.list QUILT_PC=.pc
export QUILT_REFRESH_ARGS='-p ab -U 3 --no-timestamps --no-index' QUILT_PUSH_ARGS=--fuzz=0
cd "$out/quilt"
exec quilt --quiltrc - "$@"
