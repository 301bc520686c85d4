# SPDX-License-Identifier: GPL-2.0-or-later
# `make deps`: what mk/packages lists and this Debian lacks.

AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)
APT_GET := $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get

.PHONY: deps

# The second field of dpkg's answer is empty for a package that it never heard of.
deps: ## install what is missing from Debian, and say what
	@command -v apt-get > /dev/null || { \
		echo "deps: no apt-get here; install by hand what mk/packages lists" >&2; exit 1; }; \
	missing=$$(sed 's/#.*//' mk/packages | while read -r package why; do \
		[ -n "$$package" ] || continue; \
		state=$$(dpkg-query -W -f='$${db:Status-Status}\n' "$$package" 2>/dev/null | head -n 1); \
		[ "$$state" = installed ] && continue; \
		printf '%-20s %s\n' "$$package" "$$why" >&2; \
		echo "$$package"; \
	done); \
	if [ -z "$$missing" ]; then echo "deps: nothing is missing"; exit 0; fi; \
	echo "deps: installing the above"; \
	$(APT_GET) -q update && $(APT_GET) -q -y install --no-install-recommends $$missing
