#!/usr/bin/env bash
# tools/fresh.sh [FOLDER]: a new Debian 12 in FOLDER (debootstrap; needs root), a fresh clone in it, then make run twice and make test.
# Prints how long each took. Finds missing packages: nothing of this machine but its way to the network is visible inside.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(realpath -m "${1:-build/fresh}")
mirror=${MIRROR:-http://deb.debian.org/debian}
command -v debootstrap >/dev/null || { apt-get update -q; apt-get install -y -q --no-install-recommends debootstrap; }

timed() {
  local name=$1 begin=$SECONDS
  shift
  echo "== $name"
  "$@"
  times+=("$(printf '%6d s  %s' $((SECONDS - begin)) "$name")")
}
inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 "${passed[@]}" bash -c "$1"; }
unmount() { for point in dev proc sys; do if mountpoint -q "$root/$point"; then umount -R -l "$root/$point"; fi; done; }

# Settings with which this machine reaches the network: proxies, certificates, package index.
passed=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CERT; do
  [ -z "${!name:-}" ] || passed+=("$name=${!name}")
done
times=()
[ ! -e "$root/root/tandem" ] || { echo "$root is in use; remove it first" >&2; exit 1; }
mkdir -p "$root"
timed "debootstrap" debootstrap --variant=minbase --include=ca-certificates,git,make,sudo bookworm "$root" "$mirror"
trap unmount EXIT
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys"
mount --bind /dev "$root/dev"
mkdir -p "$root/dev/shm"
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do [ ! -e "$file" ] || cp -L "$file" "$root$file"; done
for file in /etc/apt/apt.conf.d/*proxy*; do [ ! -e "$file" ] || cp -L "$file" "$root$file"; done
printf 'deb %s bookworm main\ndeb %s bookworm-updates main\ndeb http://deb.debian.org/debian-security bookworm-security main\n' "$mirror" "$mirror" >"$root/etc/apt/sources.list"
git clone -q --no-hardlinks . "$root/root/tandem"
timed "make run, first time (packages, build, job)" inside "cd /root/tandem && make run"
timed "make run, second time" inside "cd /root/tandem && make run"
timed "make test" inside "cd /root/tandem && make test"
timed "make test, second time" inside "cd /root/tandem && make test"
printf '\n'
printf '%s\n' "${times[@]}"
