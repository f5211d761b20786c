# The few commands of daily work; CMake and Ninja do it. `make help` lists them.
.DEFAULT_GOAL := build
JOBS ?= $(shell nproc)
RELEASE := build/release
BIN := $(RELEASE)/bin

.PHONY: help packages build run test check bench asan tsan format clean interop

help:            ## this list
	@grep -hE '^[a-z]+: *.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

packages:        ## install the Debian packages of tools/packages.txt that are missing
	@tools/packages.sh

build: packages  ## programs into build/release/bin, the library into build/release/lib
	@tools/build.sh release all

run: build       ## 1 ps and 2 workers learn a line, as processes of this machine
	@tools/run.sh $(BIN)

test: packages   ## build everything and run everything that must pass
	@tools/test.sh

interop: build   ## only the tests with real TensorFlow
	@tests/interop/run.sh

check: packages  ## include arrow, headers alone, format, sizes
	@tools/check.sh

bench: build     ## compare with TensorFlow; see bench/README.md
	@bench/run.sh

asan: packages   ## the tests under address and undefined-behaviour sanitizers
	@tools/sanitize.sh asan

tsan: packages   ## the tests under the thread sanitizer
	@tools/sanitize.sh tsan

format: packages ## clang-format all sources
	@git ls-files '*.h' '*.cc' | xargs clang-format-14 -i

clean:           ## remove build/
	rm -rf build
