#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh [FLAVOUR...]: what tracepoints cost on the kernel without the series
# (stock) and on that with it (guest).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment
dir=$out/bench

# Modules of a hundred, ten thousand and a hundred thousand sites, in files that
# the compiler can hold.
write_makefile() {
	local part
	{
		echo 'obj-m := bench.o bench100.o bench10000.o bench100000.o'
		echo 'bench100-y := main.o part_few.o'
		echo 'bench10000-y := main.o part_a.o'
		echo "bench100000-y := main.o $(printf 'part_%s.o ' a b c d e f g h i j)"
		echo 'CFLAGS_part_few.o := -DFEW'
	} >Makefile
	for part in few a b c d e f g h i j; do
		printf '#define PART %s\n#include "sites.c"\n' "$part" >part_$part.c
	done
	printf '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("Sites");\n' >main.c
}

build_modules() {
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir"
	cp -r "$top/dev/bench" "$dir/$1"
	cd "$dir/$1"
	write_makefile
	make -C "$out/build/$1" CC='ccache gcc' M="$PWD" -j"$(nproc)" modules
	strip --strip-debug ./*.ko
}

for flavour; do
	with_progress "bench modules $flavour" "$logs/bench-$flavour.log" build_modules "$flavour"
	"$top/dev/guest.sh" --flavour "$flavour" --name "bench-$flavour" --icount --timeout 1200 \
		dev/bench/guest.sh "$dir/$flavour" | tee "$dir/$flavour.csv"
done
