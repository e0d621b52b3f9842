# The front door of Fanline. Any target may come first: each makes what it needs.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# By its path: another python3 may come first on PATH, without Debian's modules.
PYTHON := /usr/bin/python3

help:  ## what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

setup:  ## install what is missing (Debian packages, Kafka's jars)
	@stack/setup

build: setup  ## build the programs into build/release/bin
	@$(MAKE) build/release/build.ninja
	@cmake --build --preset programs

build-all: setup  ## build tests and benchmarks too
	@$(MAKE) build/release/build.ninja
	@cmake --build --preset release

test: setup  ## build and run all tests, the logic's once more under the sanitizers
	@$(MAKE) -j2 sanitized test-tools
	@$(run_tests)

# Beside each other: tools are mostly waited for.
sanitized: build-all
	@$(MAKE) build/asan/build.ninja
	@cmake --build --preset asan

test-tools: chart-tools
	@stack/clients/setup
	@stack/unstable
	@stack/venv pages pages/requirements.txt
	@stack/venv packaging packaging/requirements.txt

test-quick: build-all  ## logic and simulation alone, without services and sanitizers: within three minutes of a built tree
	@GTEST_BRIEF=1 ctest --preset release -L 'unit|sim' --parallel $$(nproc)

test-long: build-all  ## what is too long for make test: 20,000 schedules, faults again, every mutant
	@$(PYTHON) tests/long.py

test-mysql: build-all  ## what has shards, with MySQL for them in place of MariaDB
	@stack/clients/setup
	@stack/unstable
	@GTEST_BRIEF=1 FANLINE_STACK_SQL=mysql ctest --preset release -L 'integration|e2e|monitoring' -LE 'mysql|valkey' --parallel $(slots)

test-valkey: build-all  ## what has a Redis, with Valkey in its place
	@stack/clients/setup
	@stack/unstable
	@GTEST_BRIEF=1 FANLINE_STACK_REDIS=valkey ctest --preset release -L 'integration|e2e|monitoring' -LE 'mysql|valkey' --parallel $(slots)

test-k8s: build  ## install, upgrade, scale, roll back and remove the chart on a real API server
	@helm/setup k8s
	@$(MAKE) build/release/build.ninja
	@ctest --preset release -C k8s -L k8s --output-on-failure

packages: build  ## Debian packages of the programs, into build/release/packages
	@stack/setup packaging/packages.list
	@$(PYTHON) packaging/components.py --sbom build/release/sbom
	@cd build/release && rm -rf packages && cpack

test-packages: packages  ## install, run and purge them in a Debian of their own (as root)
	@packaging/setup
	@ctest --preset release -C packages -L packages --output-on-failure

images: build  ## container images of the programs, with buildah, built from the sources (as root)
	@packaging/setup
	@packaging/images/build

test-images: build chart-tools  ## images of build/release/bin: what is in them, and how they run (as root)
	@packaging/setup
	@ctest --preset release -C images -L images --output-on-failure

chart: build chart-tools  ## write what is generated in helm/fanline: the schema of its values, its README
	@$(PYTHON) helm/generate.py

chart-tools: setup  ## install what checks the chart and compose.yaml (helm/tools.list)
	@helm/setup compose

site: build  ## build the site of docs/ into build/site/html
	@stack/venv pages pages/requirements.txt
	@pages/site
	@echo build/site/html/index.html

demo: build  ## watch posts arrive: make demo [GRAPH=edges.txt]
	@$(PYTHON) demo/run.py $(if $(GRAPH),--graph '$(GRAPH)')

bench: build-all  ## measure it on this machine
	@$(PYTHON) bench/run.py

bench-full: build-all  ## the same, and how it grows up to ten million followers (16 GB)
	@$(PYTHON) bench/run.py --scale

bench-against: build-all  ## beside another revision: make bench-against REV=... [ROWS=name,...]
	@$(PYTHON) bench/against.py $(REV) $(if $(ROWS),--rows '$(ROWS)')

bench-check: build-all  ## whether rows are worse than recorded: bench/record.json
	@$(PYTHON) bench/check.py

up: setup  ## start Kafka, Redis and two shards to play with
	@stack/play up

down:  ## stop them
	@[ ! -e build/stack ] || stack/play down

mutants: setup  ## take guards away and see that a test fails: make mutants [SEED=n] [DRAWN=60] [ONLY=text] [RESUME=1]
	@$(PYTHON) tests/mutants/run.py $(if $(SEED),--seed $(SEED)) $(if $(DRAWN),--drawn $(DRAWN)) \
	  $(if $(ONLY),--only '$(ONLY)') $(if $(RESUME),--resume)

chaos: build  ## whole runs while everything breaks: make chaos [SEEDS=1] [FIRST=1] [SEED=n] [EVENTS=20000] [PLAN=file]
	@$(PYTHON) tests/chaos/run.py $(if $(SEEDS),--seeds $(SEEDS)) $(if $(FIRST),--first $(FIRST)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(EVENTS),--events $(EVENTS)) $(if $(PLAN),--plan '$(PLAN)')

tsan: setup  ## what has threads, on real services, under the thread sanitizer
	@$(MAKE) build/tsan/build.ninja
	@cmake --build --preset tsan
	@$(run_under_tsan)

fuzz:  ## look for bytes that break a decoder, with clang: make fuzz [SECONDS=60] [ONLY=target,...] [KEEP=1]
	@stack/setup stack/fuzzing.list
	@$(MAKE) build/fuzz/build.ninja
	@cmake --build --preset fuzz
	@$(PYTHON) tests/fuzz/run.py --seconds $(or $(SECONDS),60) $(if $(ONLY),--only '$(ONLY)') $(if $(KEEP),--keep)

plots: build  ## draw docs/plots anew, of a run of two minutes
	@stack/setup stack/plots.list
	@$(PYTHON) tests/monitoring/plots.py

flames: build-all  ## draw docs/plots/flame-*.svg anew: where the processor time goes
	@stack/setup stack/flames.list
	@$(PYTHON) bench/flames.py

format: setup  ## put all C++ in shape
	@$(cpp_files) | xargs -0 clang-format-14 -i

format-check: setup  ## say which C++ is not
	@$(cpp_files) | xargs -0 clang-format-14 --dry-run -Werror

clean: down  ## forget everything built
	@rm -rf build

# Ninja configures anew by itself when a CMakeLists.txt changes, but not for a preset.
build/%/build.ninja: CMakePresets.json
	@cmake --preset $*

cpp_files = find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -print0

# Three a core, and at most twelve: a stack takes about 1 GB.
slots = $$(slots=$$((3 * $$(nproc))); echo $$((slots < 12 ? slots : 12)))

# Both builds in one run of ctest, so that its last lines count all there is. Of a program's tests only
# those that fail are printed.
define run_tests
mkdir -p build/tests
printf 'subdirs(../release ../asan)\n' > build/tests/CTestTestfile.cmake
GTEST_BRIEF=1 ctest --test-dir build/tests --output-on-failure --parallel $(slots)
endef

# A daemon's report must not get lost in its log: each goes to a file, and a file is a failure.
define run_under_tsan
rm -rf build/tsan/reports && mkdir -p build/tsan/reports
failed=0; \
TSAN_OPTIONS="log_path=$$PWD/build/tsan/reports/race" ctest --preset tsan || failed=1; \
for report in $$(find build/tsan/reports -type f); do \
  failed=1; echo "==== $$report"; head -60 "$$report"; \
done; \
exit $$failed
endef

.PHONY: help setup build build-all test sanitized test-tools test-quick test-long test-mysql test-valkey test-k8s packages test-packages images test-images chart chart-tools site demo bench bench-full bench-against bench-check up down mutants chaos tsan fuzz plots flames format format-check clean
