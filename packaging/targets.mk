# Included by the Makefile: what is delivered.

container: ## build the container image and run it on 127.0.0.1:PORT
	@scripts/container build
	@scripts/container run

container-push: ## build the image and push it to REGISTRY/dragoman:VERSION
	@test -n "$(REGISTRY)" || { echo "make container-push REGISTRY=registry.example.org/team" >&2; exit 2; }
	@scripts/container build
	@scripts/container push "$(REGISTRY)"

container-check: ## build the image, run it and test it
	@docker/check

container-cuda: ## build and test the image for NVIDIA GPUs (BASE, DEVEL: base images); needs no GPU
	@KIND=cuda docker/check

container-arm64: deb-arm64 ## build the image for 64-bit ARM from the programs of deb-arm64, and test it in qemu; needs root
	@ARCH=arm64 docker/check

deploy-check: ## check Dockerfile, compose file, Kubernetes manifests, alerts, dashboard
	@scripts/deploy-check

deb: ## build Debian packages in build/deb and check them with lintian
	@scripts/deb

deb-arm64: ## build Debian packages for 64-bit ARM in build/deb-arm64 on an amd64 machine, and check them with lintian; needs root
	@ARCH=arm64 scripts/deb

sbom: ## write the list of components as CycloneDX: build/sbom.json
	@scripts/deps serve
	@scripts/build release dragoman dragoman-server dragoman-train dragoman_shared
	@packaging/sbom build/release/bin >build/sbom.json
	@echo build/sbom.json

wheel: ## build the Python package as a wheel in build/wheel
	@scripts/deps wheel
	@scripts/build release dragoman_shared
	@scripts/wheel

release: ## build source tarball, Debian packages, wheel, container archive and checksums in build/release-VERSION; prints the tag's command; ARM64=yes: packages and image for 64-bit ARM, too
	@scripts/release

release-check: ## install the release's packages, wheel and tarball on a bare Debian 12 each, and try them; KINDS="deb wheel"; ARCH=arm64 KINDS=deb: in qemu; needs root
	@scripts/release-check $(KINDS)
