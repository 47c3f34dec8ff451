# SPDX-License-Identifier: GPL-2.0
# Short names for the scripts in dev/. `make help` lists them.

FLAVOUR ?= guest
STEPS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo check check-all clients matrix bench torture boot terminal series lint tree build clean

help:	## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo:	build ## build all, boot a guest, and trace the scheduler there through markers
	@dev/tracers.sh
	@dev/guest.sh --name demo dev/guest/demo.sh

check:	## the tests, or some: make check STEPS="kunit boot"; dev/check/order lists them
	@dev/check.sh $(STEPS)

check-all: ## the tests that take longer as well: i386, races, lockdown
	@dev/check.sh --all

clients:	## run perf, trace-cmd, bpftrace, ftracetest ... with and without the series; compare
	@dev/clients.sh

matrix:	tree ## build, boot and test other configurations, architectures, compilers; hours
	@dev/matrix.sh

bench:	tree ## count instructions of tracepoints and markers, with and without the series; SHORT=1 for less
	@dev/bench.sh $(if $(SHORT),short)

torture:	tree ## races, sanitizers, failures and bad input, in QEMU; more than an hour, SHORT=1 for minutes
	@dev/torture.sh $(if $(SHORT),--short)

boot:	terminal build ## a shell in the guest
	@dev/guest.sh --flavour $(FLAVOUR) --shell

terminal:
	@[ -t 0 ] || { echo "make boot: needs a terminal" >&2; exit 1; }

series:	## the mails of all postings, or of POSTING, in out/series; BUILD=1 builds and boots each commit (hours)
	@dev/series.sh
	@$(if $(BUILD),dev/series/build.sh)

lint:	build ## run checkpatch, sparse, W=1, kernel-doc and shellcheck; silent when clean
	@dev/lint.sh

tree:	## create out/linux: the kernel with the series applied
	@dev/tree.sh

build:	tree ## build out/linux in out/build/guest, or FLAVOUR=NAME with dev/config/NAME.config
	@dev/build.sh $(FLAVOUR)

clean:	## remove out/
	rm -rf out
