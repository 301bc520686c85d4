#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch.sh - bring what the lab boots onto this machine, once.
#
#   fetch.sh 6.1|6.12|7.3     a guest kernel: vmlinuz, config, System.map (where shipped),
#                             modules/ (with `order`: what to insert, in order), version
#   fetch.sh rust-virtiofsd   Debian 13's virtiofsd, with its loader and libraries in lib/
#
# Prints the directory that holds it. The cache is ${VQSTEER_LAB_CACHE:-~/.cache/vqsteer-lab};
# what is there is never fetched again and needs no network: remove a directory to renew it.
#
# Packages come through a private apt configuration, so the machine's own sources and lists stay
# as they are, from the mirror that this machine uses for Debian, and are verified against the
# machine's Debian keyring.
set -euo pipefail

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=${VQSTEER_LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vqsteer-lab}
# In the order the kernel needs them; what is built in is skipped.
wanted_modules=(virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci
		fuse virtiofs virtio_console)
work=

die() { echo "fetch.sh: $*" >&2; exit 1; }
say() { echo "fetch.sh: $*" >&2; }
cleanup() { [ -z "$work" ] || rm -rf -- "$work"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# main_index_site PROPERTY...: the site of the first such package index of component main.
main_index_site() {
	# shellcheck disable=SC2016 # $(SITE) is for apt to expand
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Component: main' "$@" |
		sed -n 1p
}

# The mirror is recognised by what its index says it is. Where no index was ever fetched (a fresh
# machine before `apt-get update`), by serving the release this machine runs.
debian_site() {
	local site codename release
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	site=$(main_index_site 'Origin: Debian' 'Label: Debian')
	for release in "$codename" stable oldstable; do
		[ -n "$site" ] || site=$(main_index_site --no-release-info "Release: $release")
	done
	[ -n "$site" ] || die "no Debian archive among this machine's apt sources; add one" \
		"to /etc/apt/sources.list"
	echo "$site"
}

# apt_setup SUITE: write $work/apt.conf and read the suite's package lists.
apt_setup() {
	local suite=$1 site
	[ -r "$keyring" ] || die "no $keyring to verify packages with; install debian-archive-keyring"
	site=$(debian_site)
	mkdir -p "$work"/{lists/partial,apt/archives/partial}
	echo "deb [arch=amd64 signed-by=$keyring] $site $suite main" > "$work/sources.list"
	cat > "$work/apt.conf" <<-CONF
		Dir::Etc::SourceList "$work/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::State::Lists "$work/lists";
		Dir::State::Status "/dev/null";
		Dir::Cache "$work/apt";
		APT::Architecture "amd64";
		APT::Sandbox::User "root";
		APT::Update::Error-Mode "any";
		APT::Get::AllowUnauthenticated "false";
		Acquire::AllowInsecureRepositories "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	CONF
	apt-get -c "$work/apt.conf" -qq update > "$work/log" 2>&1 || {
		cat "$work/log" >&2
		die "cannot read the package lists of $suite, for the reason above; without a" \
			"network, copy a filled $cache here or set VQSTEER_LAB_CACHE to one"
	}
}

# depends PACKAGE: names it depends on, of its newest version.
depends() {
	apt-cache -c "$work/apt.conf" --no-all-versions show "$1" | sed -n 's/^\(Pre-\)\?Depends: //p' |
		sed 's/[,|]/\n/g' | sed 's/^ *//; s/[ (:].*//'
}

# download DIR PACKAGE...: verified packages, unpacked into DIR.
download() {
	local into=$1 deb; shift
	mkdir -p "$into" "$work/debs"
	(cd "$work/debs" && apt-get -c "$work/apt.conf" -qq download "$@") > "$work/log" 2>&1 || {
		cat "$work/log" >&2
		die "cannot download $*"
	}
	for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$into"; done
	rm -rf "$work/debs"
}

# versioned_image GENERATION: the real package behind the suite's metapackage.
versioned_image() {
	local want=$1 image
	image=$(depends linux-image-cloud-amd64 | grep -E '^linux-image-[0-9]' | head -n 1)
	[ -n "$image" ] || die "linux-image-cloud-amd64 names no image package"
	case $image in linux-image-"$want".*) echo "$image"; return ;; esac
	say "the archive moved on from $want to $image"
	apt-cache -c "$work/apt.conf" pkgnames "linux-binary-$want." | grep -E -- '-cloud-amd64$' |
		sort -V | sed 's/binary/image/' | tail -n 1 | grep . || echo "$image"
}

# The newest kernels are split: the image package only depends on linux-base, -binary, -modules,
# and everything is below usr/lib/modules; the older ones use boot/ and lib/modules.
fetch_kernel() {
	local generation=$1 suite=$2 out=$3 image root release packages file path
	apt_setup "$suite"
	image=$(versioned_image "$generation")
	mapfile -t packages < <(depends "$image" | grep -E '^linux-(base|binary|modules)-[0-9]')
	say "fetching ${packages[*]:-$image} from $suite"
	root=$work/root
	download "$root" "${packages[@]:-$image}"
	release=${image#linux-image-}
	mkdir -p "$out/modules" "$root/lib"
	[ -d "$root/lib/modules" ] || mv "$root/usr/lib/modules" "$root/lib/"
	for file in vmlinuz config System.map; do
		for path in "$root/boot/$file-$release" "$root/lib/modules/$release/$file"; do
			[ ! -e "$path" ] || mv "$path" "$out/$file"
		done
	done
	[ -s "$out/vmlinuz" ] || die "no vmlinuz in ${packages[*]:-$image}"
	# Debian ships a one-line placeholder and the real one with the debug symbols.
	find "$out" -name System.map -size -16k -delete
	collect_modules "$root" "$release" "$out/modules"
	echo "$release" > "$out/version"
}

# collect_modules ROOT RELEASE OUT: wanted modules and what they need, uncompressed.
collect_modules() {
	local root=$1 release=$2 out=$3 mod kind path name
	depmod -b "$root" "$release"
	for mod in "${wanted_modules[@]}"; do
		modprobe -d "$root" -S "$release" --show-depends "$mod"
	done | while read -r kind path _; do
		[ "$kind" = insmod ] || continue
		name=$(basename "$path"); name=${name%%.ko*}.ko
		[ ! -e "$out/$name" ] || continue
		case $path in
		*.xz) xz -dc "$path" > "$out/$name" ;;
		*.zst) zstd -qdc "$path" > "$out/$name" ;;
		*) cp "$path" "$out/$name" ;;
		esac
		echo "$name" >> "$out/order"
	done
	touch "$out/order"
}

fetch_rust_virtiofsd() {
	local out=$1 root=$work/root lib
	apt_setup trixie
	say "fetching virtiofsd and its libraries from trixie"
	download "$root" virtiofsd libc6 libcap-ng0 libgcc-s1 libseccomp2
	mkdir -p "$out/lib"
	cp "$root/usr/libexec/virtiofsd" "$out/"
	for lib in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libcap-ng.so.0 libgcc_s.so.1 \
			libseccomp.so.2; do
		cp -L "$root/usr/lib/x86_64-linux-gnu/$lib" "$out/lib/"
	done
	# The loader is what the program's name resolves to: /proc/PID/exe shows it.
	cat > "$out/run" <<-'RUN'
		#!/bin/sh
		here=$(dirname "$(readlink -f "$0")")
		exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/virtiofsd" "$@"
	RUN
	chmod 755 "$out/run" "$out/virtiofsd"
	"$out/run" --version > "$out/version"
}

[ $# -eq 1 ] || die "usage: fetch.sh 6.1|6.12|7.3|rust-virtiofsd"
what=$1
case $what in
6.1|6.12|7.3) dir=$cache/kernel-$what ;;
rust-virtiofsd) dir=$cache/$what ;;
*) die "unknown '$what': 6.1, 6.12, 7.3 or rust-virtiofsd" ;;
esac
if [ ! -e "$dir/version" ]; then
	mkdir -p "$cache"
	exec 9> "$cache/.lock-$what"
	flock 9
fi
if [ ! -e "$dir/version" ]; then # nobody else fetched it while we waited
	work=$(mktemp -d "$cache/.fetch.XXXXXX")
	case $what in
	6.1) fetch_kernel 6.1 bookworm "$work/out" ;;
	6.12) fetch_kernel 6.12 trixie "$work/out" ;;
	7.3) fetch_kernel 7.3 trixie-backports "$work/out" ;;
	rust-virtiofsd) fetch_rust_virtiofsd "$work/out" ;;
	esac >&2
	chmod -R u+rwX,go+rX "$work/out"
	rm -rf "$dir"
	mv "$work/out" "$dir"
fi
echo "$dir"
