# SPDX-License-Identifier: LGPL-2.1-or-later
# Thin on purpose: bootstrap installs, meson builds, pytest tests, timens-study measures.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
PROFILE ?= quick
ROUNDS  ?= 200
SECONDS_EACH ?= 60
PYTHON   = .venv/bin/python
PROGRAMS = launcher/timens-run launcher/timens-oci launcher/timens-hook launcher/timens-clocks bench/timens-bench rootfs-tools/timens-rootfs analysis/timens-study analysis/timens-traced

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

study: bootstrap-study build ## Measure what virtual time costs here, and write a report (PROFILE=quick|standard|paper)
	$(BUILD)/bin/timens-study run --profile $(PROFILE)

lab: bootstrap-study build ## The experiments of the articles on this machine, one page (minutes; CLOCKSOURCE=1 switches it)
	$(BUILD)/bin/timens-study lab all $(if $(filter 1,$(CLOCKSOURCE)),--switch-clock-source)

test: bootstrap-test build sanitized ## Run every test that fits into ten minutes
	meson test -C $(BUILD) --print-errorlogs
	meson test -C $(BUILD)-asan --print-errorlogs
	TIMENS_RUN=$(BUILD)-asan/launcher/timens-run ASAN_OPTIONS=detect_leaks=0 $(PYTHON) -m pytest tests/integration
	$(PYTHON) -m pytest

build: bootstrap-build $(BUILD)/build.ninja ## Build alone; all programs are then in build/bin
	meson compile -C $(BUILD)
	@mkdir -p $(BUILD)/bin
	@for p in $(PROGRAMS); do ln -sfn ../$$p $(BUILD)/bin/$${p##*/}; done

$(BUILD)/build.ninja:
	meson setup $(BUILD) --prefix $(PREFIX)

sanitized: bootstrap-build $(BUILD)-asan/build.ninja # the same C, watched by ASan and UBSan
	meson compile -C $(BUILD)-asan

$(BUILD)-asan/build.ninja:
	meson setup $(BUILD)-asan --buildtype debug -Db_sanitize=address,undefined -Db_lundef=false

bootstrap-%:
	@./bootstrap $*

lint: bootstrap-lint build lint-c ## Check style, types and the C for defects; changes nothing
	git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

# GCC 12's analyzer loses track of pointers in lists that are kept to the end of the process, and of
# __attribute__((cleanup)): what is freed never or twice is AddressSanitizer's to find, and what is
# used uninitialized is clang-tidy's.
ANALYZER = -fanalyzer -fdiagnostics-path-format=none -Wno-analyzer-malloc-leak \
	-Wno-analyzer-double-free -Wno-analyzer-use-of-uninitialized-value

# cppcheck takes what the cleanup attribute frees for leaks; -fanalyzer and LeakSanitizer know it.
lint-c: build # three analyzers over launcher/
	cppcheck -q --std=c17 --enable=warning,performance,portability --error-exitcode=1 \
		--inline-suppr --suppress=missingIncludeSystem --suppress=memleak -D_GNU_SOURCE -Ilauncher \
		$$(git ls-files 'launcher/*.c')
	[ -d $(BUILD)-analyzer ] || meson setup $(BUILD)-analyzer -Dtests=false -Dc_args='$(ANALYZER)'
	meson compile -C $(BUILD)-analyzer
	mkdir -p $(BUILD)-tidy # clang knows neither gcc's specs nor the headers of musl
	python3 -c 'import json, sys; json.dump([c for c in json.load(sys.stdin) if "-specs=" not in c["command"]], sys.stdout)' \
		<$(BUILD)/compile_commands.json >$(BUILD)-tidy/compile_commands.json
	git ls-files 'launcher/*.c' ':!launcher/musl' | xargs -P 2 -n 8 clang-tidy -p $(BUILD)-tidy --quiet

bench: bench-launch bench-bundles bench-rootfs bench-study ## bench-launch, bench-bundles, bench-rootfs and bench-study

bench-launch: bootstrap-bench build ## What a container start costs, beside every peer that is installed (root; ROUNDS=200)
	/usr/bin/python3 bench/launch/run.py --rounds $(ROUNDS) --write-table $(if $(TREE),--tree $(TREE))

bench-bundles: bootstrap-bench build ## What the life of an OCI bundle costs, beside crun and runc (root; ROUNDS=200)
	/usr/bin/python3 bench/launch/bundles.py --rounds $(ROUNDS) --write-table $(if $(TREE),--tree $(TREE))
.PHONY: bench-bundles

$(BUILD)-fuzz/build.ninja:
	CC=clang meson setup $(BUILD)-fuzz -Dfuzz=true -Dtests=false -Dwerror=false \
		-Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link

fuzz: bootstrap-fuzz $(BUILD)-fuzz/build.ninja ## Feed every parser with noise (SECONDS_EACH=60 for each)
	meson compile -C $(BUILD)-fuzz
	tests/fuzz/run $(BUILD)-fuzz/tests/fuzz $(SECONDS_EACH)

faults: bootstrap-test build ## Let every system call of a start fail once, with every error it can give
	TIMENS_FAULTS=all $(PYTHON) -m pytest tests/integration/test_faults.py

# clang's counters live in a shared mapping (%c): what runs in a container, is killed or replaced by
# exec is counted too, which gcov's are not.
COVERAGE = -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation
$(BUILD)-coverage/build.ninja:
	CC=clang meson setup $(BUILD)-coverage -Dwerror=false -Dc_args='$(COVERAGE)' \
		-Dc_link_args=-fprofile-instr-generate

coverage: bootstrap-test bootstrap-fuzz build $(BUILD)-coverage/build.ninja ## Lines of launcher/ that the tests reach; fails below 90 %
	meson compile -C $(BUILD)-coverage
	tests/coverage $(BUILD)-coverage $(PYTHON)

bench-study: bootstrap-study build ## How often the study's design is wrong here, and three quick studies that must agree
	$(BUILD)/bin/timens-study aa --blocks 30
	mkdir -p results && out=$$(mktemp -d results/bench-XXXXXX) && for i in 1 2 3; do \
		$(BUILD)/bin/timens-study run --profile quick --output $$out/$$i || exit 1; done && \
		$(BUILD)/bin/timens-study compare $$out/1 $$out/2 $$out/3 --agree --output $$out/compare.html

# timens-study gets an environment of its own, with what it imports and nothing else.  An
# environment that was made is kept as long as the lock file is the same; it works wherever
# DESTDIR is moved to, because only its python is called, never a script of its bin.
VENV = $(DESTDIR)$(PREFIX)/lib/timens-run/venv
install: bootstrap-study build ## Install under PREFIX (and DESTDIR)
	@meson configure $(BUILD) --prefix $(PREFIX)
	meson compile -C $(BUILD)
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild
	@cmp -s analysis/requirements.txt $(VENV)/.locked || { \
		set -e; echo "making $(VENV)"; \
		/usr/bin/python3 -m venv --clear $(VENV); \
		$(VENV)/bin/python -m pip --disable-pip-version-check install -q --no-deps \
			--only-binary :all: --require-hashes -r analysis/requirements.txt; \
		cp analysis/requirements.txt $(VENV)/.locked; }

clean: ## Remove what the build made; keeps results/
	rm -rf $(BUILD) $(BUILD)-*

.PHONY: help study lab test build sanitized lint lint-c bench fuzz faults coverage install clean

LOCK = CUSTOM_COMPILE_COMMAND='make lock' $(PYTHON) -m piptools compile -q --generate-hashes \
	--no-emit-index-url --no-emit-find-links --strip-extras
lock: ## Resolve requirements.in again into requirements.txt
	$(PYTHON) -m pip -q install pip-tools
	$(LOCK) requirements.in
	$(LOCK) --constraint requirements.txt analysis/requirements.in
.PHONY: lock

test-rootfs: bootstrap-test build ## Make Debian roots from the archive, install into them (minutes)
	$(PYTHON) -m pytest -m mirror tests/rootfs
.PHONY: test-rootfs

bench-rootfs: bootstrap-bench build ## Pull beside skopeo + umoci and podman (root, minutes)
	/usr/bin/python3 bench/rootfs/run.py
.PHONY: bench-rootfs

test-distros: bootstrap-test ## Set up and build in fresh Debian 12 and 13 trees (minutes)
	$(PYTHON) -m pytest tests/distros
.PHONY: test-distros

test-languages: bootstrap-languages build ## Clocks of Go, Java, Node and systemd, which it installs (minutes)
	$(PYTHON) -m pytest tests/languages
.PHONY: test-languages

test-report: bootstrap-report build ## Look at the report in a browser and as a PDF (chromium, LaTeX)
	$(PYTHON) -m pytest tests/report

mutants: bootstrap-test ## Break each formula of the statistics once: a test must fail (minutes)
	$(PYTHON) tests/analysis/mutants.py

bench-stats: bootstrap-test .venv-bench/.locked ## Our statistics against statsmodels and pingouin
	$(PYTHON) tests/speed/against_others.py .venv-bench/bin/python

.venv-bench/.locked: tests/speed/requirements.txt
	/usr/bin/python3 -m venv --clear .venv-bench
	.venv-bench/bin/python -m pip -q install --only-binary :all: -r $<
	cp $< $@
.PHONY: test-report mutants bench-stats

RUNTIME ?= timens-oci
engines: bootstrap-engines build ## Podman, containerd, Docker and the conformance suite in a Debian 13 tree (RUNTIME=crun)
	$(PYTHON) -m pytest tests/engines --runtime $(RUNTIME) $(if $(filter timens-oci,$(RUNTIME)),--write-table)
	cd tests/engines && ../../$(PYTHON) conformance.py $(RUNTIME) crun runc
.PHONY: engines
