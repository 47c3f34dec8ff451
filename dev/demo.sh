#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: the part of `make demo` after the build: run tracers in the guest, and draw
# what one of them recorded.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment

"$top/dev/tracers.sh"
"$top/dev/guest.sh" --name demo dev/guest/demo.sh
"$top/dev/timeline.sh" "$out/guest/demo/switches.txt" "$out/demo/timeline.svg"
