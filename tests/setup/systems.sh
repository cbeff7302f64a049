# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# systems.sh: other Debian systems from where this one has its packages; sourced.

# list_sources SUITE: where this machine has Debian's packages from, with
# another release.
list_sources() {
  local suite=$1 codename uri release component
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
  # shellcheck disable=SC2016 # apt-get's own
  apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
    --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' |
    while read -r uri release component; do
      case $release in
        "$codename" | "$codename"-updates | "$codename"-security)
          echo "deb $uri $suite${release#"$codename"} $component"
          ;;
      esac
    done | sort -u | grep . ||
    echo "deb http://deb.debian.org/debian $suite main"
}

# How this machine gets at them: proxies and the like.
list_options() {
  apt-config dump |
    grep -E '^Acquire::(https?::|ForceIPv|Check-|Retries|Languages)'
}

# unpack_system SUITE ARCHITECTURE FOLDER PACKAGE...: without installing or running any.
# Links become relative: where libm.so leads nowhere, Meson takes libm.a.
unpack_system() {
  local packages
  packages=$(IFS=, && echo "${*:4}")
  list_sources "$1" | mmdebstrap --variant=extract --architectures="$2" \
    --aptopt="$(list_options)" --include="$packages" "$1" "$3" - &&
    find "$3/usr/lib" -lname '/*' | while read -r link; do
      ln -sf --relative "$3$(readlink "$link")" "$link"
    done
}
