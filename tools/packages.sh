#!/usr/bin/env bash
# Installs the packages of packages.txt that are not there. Does nothing, in no time, when all are.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=$(sed -e 's/#.*//' tools/packages.txt | xargs)
missing=()
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 == "ii" {print $2}')
for package in $wanted; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
echo "Installing ${#missing[@]} Debian packages: ${missing[*]}"
sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo"
$sudo apt-get update -q
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends "${missing[@]}"
