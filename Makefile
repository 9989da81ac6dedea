# A thin front: CMake and its presets do the work, scripts/ the rest. Variables of the command line and the environment, such as
# PORT=8081, reach the scripts, which have the defaults.
.DEFAULT_GOAL := help
PYTEST = .venv/bin/python3 -m pytest -q -p no:cacheprovider

help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 18

serve: ## install missing packages, build, serve on HOST:PORT (127.0.0.1:8080); PULL=firefox/en-de,... downloads models first
	@scripts/serve

build: ## build the programs into build/release/bin
	@scripts/deps serve
	@scripts/build release

test: ## build and run all tests except the long ones
	@scripts/test release --label-exclude long

test-loaded: ## run the API's tests RUNS (10) times beside LOOPS (6) busy loops
	@scripts/test-loaded

attack: build ## repeat earlier attacks as tests
	@scripts/test-env
	@$(PYTEST) tests/attack

replicas: build ## kill, drain and freeze replicas behind HAProxy and nginx under load; REPLICAS_SECONDS (10) each
	@scripts/deps replicas
	@scripts/test-env
	@REPLICAS_SECONDS=$${REPLICAS_SECONDS:-10} $(PYTEST) -s tests/replicas

test-clients: ## run other servers' clients from PyPI against this server
	@scripts/test release --label-regex '^clients$$'

faults: build ## let each allocation fail in turn: start, requests, reload, command line, 40 of each trainer's verb; long
	@scripts/test-env
	@scripts/build release faults
	@FAULTS_STEPS=0 FAULTS_RUNS=40 $(PYTEST) tests/faults

faults-files: build ## let each read and write fail in turn: full, broken and slow disks under command line, trainer, downloads, server; long
	@scripts/test-env
	@scripts/build release faults
	@FILES_STEPS=0 $(PYTEST) -s tests/faults/test_files.py tests/faults/test_files_server.py

faults-clock: build ## set the wall clock forward and back under a server and training, as in `make test`, and for documents over minutes; a quarter of an hour
	@scripts/test-env
	@scripts/build release faults
	@CLOCK_MINUTES=1 $(PYTEST) tests/faults/test_clock.py

kills: build ## kill a training run KILLS (200) times at random moments, a server fifty times, and let the kernel kill both where a control group's memory ends: nothing is lost; half an hour
	@scripts/test-env
	@KILLS=$${KILLS:-200} OOM_KILLS=$${OOM_KILLS:-40} $(PYTEST) -s tests/faults/test_kills.py tests/faults/test_long_oom.py

test-openapi: ## test the server against openapi.yaml with 200 generated requests per operation (schemathesis), some minutes
	@scripts/test release --tests-regex 'clients/test_(long_)?schemathesis'

test-real-shape: build ## compare M2M-100 and NLLB-200 in their real shapes with transformers, some minutes and 10 GB of disk
	@scripts/test-real-shape

asan: ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/test asan --label-exclude long

analyse: build ## find conversions that may change a value or its sign in the product's C, and what cppcheck finds; DEEP=--deep: gcc's -fanalyzer, too
	@scripts/analyse $(DEEP)

tsan: ## run the C tests under ThreadSanitizer
	@scripts/test tsan --label-exclude 'long|python'

valgrind: ## send one request to a server under valgrind
	@scripts/deps valgrind
	@scripts/build release dragoman-server
	@scripts/valgrind-request $(MODELS)

fuzz: ## run each fuzz target for FUZZ_SECONDS (60), FUZZ_JOBS (1) at once
	@scripts/fuzz

coverage: ## print the line coverage by folder of the unit, parity and API tests and of the emulated GPU's decoding
	@scripts/coverage

test-arm: ## test 64-bit ARM under qemu: cross build, ops (plain C, NEON, dot products, i8mm), golden models (slow)
	@scripts/test-arm

bench: build ## compare the speed of translation with CTranslate2 on this machine's CPU; BRIEF=1: five minutes at most, with Bergamot
	@bench/run-cpu.sh $(if $(BRIEF),--brief)

bench-scale: build ## measure time by length, beam, rows, vocabulary, threads
	@bench/run-scale.sh

bench-sizes: build ## compare with CTranslate2 at 8 to 250 tokens and with a big model, ten minutes; the big model's start
	@bench/run-sizes.sh

bench-family: build ## compare the speed of other programs' models with Bergamot and CTranslate2
	@bench/run-family.sh

bench-train: build ## compare the speed of training with PyTorch, ten minutes; DATA=FOLDER
	@bench/run-train.sh

bench-marian: build ## compare training with Marian (pymarian), hours; DATA=FOLDER
	@bench/run-marian.sh

bench-loss: build ## compare loss curves with PyTorch, hours; resumable; DATA=FOLDER MINUTES=N
	@bench/run-loss.sh

bench-tune: build ## compare settings of a recipe in the same CPU time, hours; resumable; DATA=FOLDER
	@bench/run-tune.sh

bench-card: build ## compute scores and sentences for the model cards; DATA=FOLDER BUNDLES=FOLDERS
	@bench/run-card.sh

bench-kept: build ## measure protected text and the rate of flags, some minutes; DATA=FOLDER
	@scripts/test-env
	@.venv/bin/python3 bench/kept.py "$(DATA)" --out bench/results/kept.json

bench-pairs: build ## compare CPU time with an earlier revision's (BEFORE=d48fe55): HTTP cached and not, the base int8 step; a quarter of an hour
	@bench/run-pairs.sh

bench-serve: build ## measure speed and latency over HTTP
	@bench/run-serve.sh

paper: build ## rebuild the tables of docs/paper.md from bench/results/paper/
	@bench/run-paper.sh report

paper-table1: ## measure Table 1 of the paper: layers over length and dimension, three minutes
	@bench/run-paper.sh table1

paper-table2: build ## translate newstest2014 with the bundled model, two minutes; DATA=FOLDER
	@bench/run-paper.sh table2

paper-grid: build ## train Table 3 of the paper at a small size, hours; resumable; DATA=FOLDER
	@bench/run-paper.sh grid

paper-positions: build ## compare sinusoids with learned positions beyond the trained length, from two models of the grid; DATA=FOLDER
	@bench/run-paper.sh positions

paper-parsing: build ## train the paper's parser (section 6.3) on free treebanks, hours; resumable; DATA=FOLDER
	@bench/run-paper.sh parsing

paper-decoding: build ## compare beams and length penalties on a development set; BUNDLE=FOLDER SOURCE=FILE TARGET=FILE
	@bench/run-paper.sh decoding --model "$(BUNDLE)" --source "$(SOURCE)" --target "$(TARGET)"

paper-figures: build ## draw Figures 3 to 5 of the paper; BUNDLE=FOLDER, a model with six encoder layers
	@bench/run-paper.sh figures --model "$(BUNDLE)"

test-gpu: ## run the tests that need a GPU, with programs built elsewhere by nvcc; compiles nothing
	@scripts/test-gpu

bench-gpu: ## measure speed on a GPU, and compare with PyTorch if it is installed; compiles nothing
	@bench/gpu/run.sh

soak: build ## stress a server, about five minutes
	@tests/soak/soak.py --programs build/release/bin

soak-hour: build ## run the bundled model at 80 % of its capacity for MINUTES (60), with reloads, disconnects and hostile requests
	@tests/soak/hour.py --programs build/release/bin --models weights/bundles --minutes $(or $(MINUTES),60) --out bench/results/soak-hour.json

install: build ## install programs, library, models, manual and units under DESTDIR/PREFIX (/usr/local)
	@packaging/install build/release/bin

include packaging/targets.mk

clean: ## remove build outputs
	rm -rf build

# Each target is a command; a file of its name must not stop it.
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*/\1/p' $(MAKEFILE_LIST))
