#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All of the kernel's own selftests of runtime verification; a row for each case.
. "$(dirname "$0")/common.sh"
ftracetest verification --rv "$out/clients/selftests-ftrace/verification"
