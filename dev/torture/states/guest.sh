#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#: COUNTERS=hits sets mixed torn failed
# guest.sh DIR SECONDS SEED: stop the patching of immediate values between its steps
# and execute the sites in each state, with different values each time. DIR is not
# used: the module is the kernel's KUnit suite immediate_states.
set -eu
end=$((SECONDS + $2)) seed=$3
module=test_immediate_states
names=(hits sets torn mixed)
declare -A total=([hits]=0 [sets]=0 [torn]=0 [mixed]=0 [failed]=0)

# The kernel's messages of this run.
said() { dmesg -t | sed "1,/^states: seed $seed\$/d"; }

# Run the suite, and add up its counts; fails if the suite does not pass.
run() {
	local name
	echo "states: seed $seed" >/dev/kmsg
	modprobe $module seed="$seed" rounds=3
	for name in "${names[@]}"; do
		((total[$name] += $(<"/sys/module/$module/parameters/$name"))) || true
	done
	rmmod $module
	said | grep -qE '^ok [0-9]+ (- )?immediate_states$' && return
	said | grep -vE '^ *ok ' | tail -n 60
	return 1
}

echo "# seed $seed"
while
	run || ((total[failed] += 1))
	((SECONDS < end && total[failed] == 0))
do
	seed=$((seed + 1))
done
for name in "${!total[@]}"; do
	echo "$name:${total[$name]}"
done | tee "$RESULTS/counters"
if ((total[failed] == 0)); then
	echo "ok - states, seeds $3 to $seed"
else
	echo "not ok - states, seed $seed"
fi
