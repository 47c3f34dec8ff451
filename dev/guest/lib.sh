# SPDX-License-Identifier: GPL-2.0
# Sourced by scripts that run in the guest and print TAP.
# shellcheck shell=bash

failed=0

# result NAME COMMAND...: a line of TAP.
result() {
	if "${@:2}"; then
		echo "ok - $1"
		return
	fi
	echo "not ok - $1"
	((++failed))
}

# is VALUE WANTED
is() { [[ $1 == "$2" ]] || { printf "'%s' instead of '%s'\n" "$1" "$2" >&2; return 1; }; }

# until_said TEXT FILE: wait a minute at most until it is in the file.
until_said() {
	for _ in {1..300}; do
		! grep -qs "$1" "$2" || return 0
		sleep 0.2
	done
	cat "$2" && echo "no '$1' in $2"
	return 1
}

# Busybox starts in a tenth of the time of other programs. Those that are removed do not do
# what the tests need.
use_busybox() {
	local programs=/run/busybox
	mkdir $programs
	busybox --install -s $programs
	(cd $programs && rm -f sh ash awk dmesg setpriv shuf timeout ps {ins,rm,ls,dep}mod \
		modprobe modinfo mount umount)
	PATH=$programs:$PATH
}

a_while() { sleep "0.$((RANDOM % 9 + 1))"; }

# again_and_again OVER COMMAND: repeat it until OVER is true. The number of successes is
# in a file of this process.
again_and_again() {
	local good=0
	until "$1"; do
		if "$2"; then echo "$2 $((++good))" >"$left/$BASHPID.good"; fi
	done >"$left/$BASHPID.log" 2>&1
	echo "$2 succeeded $good times" >>"$left/$BASHPID.log"
}

# Is the time over? Up to five minutes more until each command has succeeded: one may need
# what another does.
# shellcheck disable=SC2154 # seconds is of the script, the others are of at_random
time_is_over() {
	local good=("$left"/*.good)
	((SECONDS >= seconds + 300 || SECONDS >= seconds && ${#good[@]} == number))
}

# at_random OVER COMMAND...: all of them at the same time, again and again. Each must
# succeed at least once.
at_random() {
	local command left number=$(($# - 1)) pid pids=()
	left=$(mktemp -d)
	SECONDS=0
	for command in "${@:2}"; do
		again_and_again "$1" "$command" &
		pids+=($!)
	done
	wait "${pids[@]}"
	cat "$left"/*.good >&2
	for pid in "${pids[@]}"; do
		[[ -e $left/$pid.good ]] || { tail "$left/$pid.log" >&2; return 1; }
	done
}
