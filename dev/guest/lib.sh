# SPDX-License-Identifier: GPL-2.0
# Sourced by scripts that run in the guest and print TAP.
# shellcheck shell=bash

failed=0

# Scripts that have something to clean up replace it.
after_failure() { :; }

# result NAME COMMAND...: a line of TAP.
result() {
	if "${@:2}"; then
		echo "ok - $1"
		return
	fi
	echo "not ok - $1"
	((++failed))
	after_failure
}

# is VALUE WANTED
is() { [[ $1 == "$2" ]] || { printf "'%s' instead of '%s'\n" "$1" "$2" >&2; return 1; }; }

a_while() { sleep "0.$((RANDOM % 9 + 1))"; }

# again_and_again SECONDS USER: call once_USER for this time; up to a minute longer, until
# it has succeeded once.
again_and_again() {
	local good=0
	while ((SECONDS < $1 || (good == 0 && SECONDS < $1 + 60))); do
		if "once_$2"; then ((++good)); fi
	done >"$2.log" 2>&1
	echo "$2 $good" >"$2.good"
}

# at_random SECONDS USER...: all of them at the same time, in this folder. Each must
# succeed at least once.
at_random() {
	local user pids=()
	SECONDS=0
	for user in "${@:2}"; do
		again_and_again "$1" "$user" &
		pids+=($!)
	done
	wait "${pids[@]}"
	cat ./*.good >&2
	for user in "${@:2}"; do
		! grep -qw 0 "$user.good" || { tail "$user.log" >&2; return 1; }
	done
}
