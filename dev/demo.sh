#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: what `make demo` shows once the kernel is built: tracers in the guest,
# and a picture of what one of them saw.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lttng.sh"
build_environment

prepare_tour
"$top/dev/guest.sh" --name demo --timeout 600 dev/guest/demo.sh
"$top/dev/timeline.sh" "$out/guest/demo/switches.txt" "$out/demo/timeline.svg"
