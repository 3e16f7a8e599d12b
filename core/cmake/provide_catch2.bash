# Catch2, version 3: the machine's own where there is one, else Debian's package, unpacked from the backports into the
# cache where the release itself has only version 2, without root's rights and without touching the machine's own apt
# configuration. Sourced by setup.bash.
# shellcheck disable=SC2154  # setup.bash sets steelyard_cache, _prefix, _log and _work

steelyard_provide_catch2() {
  local cached package
  cached="catch2-*-$(steelyard_debian_codename)-$(uname -m)"
  if steelyard_is_given Catch2; then
    return 0
  elif steelyard_find_cached "$cached"; then
    steelyard_add_prefix "$steelyard_prefix/usr"
    return 0
  elif steelyard_cmake_finds_catch2 >/dev/null 2>&1 || ! steelyard_is_debian; then
    return 0 # without either, CMake will say what is missing
  fi
  package=$(steelyard_catch2_candidate)
  if [[ -n $package ]]; then
    steelyard_install_packages "$package"
    return
  fi
  steelyard_fill_cache catch2 steelyard_fetch_catch2 "$cached" || return 1
  steelyard_find_cached "$cached" && steelyard_add_prefix "$steelyard_prefix/usr"
}

steelyard_cmake_finds_catch2() {
  steelyard_cmake_accepts <<<'find_package(Catch2 3 REQUIRED)'
}

# Prints the package through which apt would install Catch2 3, if there is one.
steelyard_catch2_candidate() {
  local package version
  for package in catch2 libcatch2-dev; do
    version=$(LC_ALL=C apt-cache policy "$package" 2>/dev/null | awk '$1 == "Candidate:" { print $2 }')
    if [[ $version == [0-9]* ]] && dpkg --compare-versions "$version" ge 3; then
      printf '%s\n' "$package"
      return 0
    fi
  done
}

# Unpacks the backports' Catch2 into the cache, under a name that matches the pattern.
steelyard_fetch_catch2() {
  local pattern=$1 version
  if steelyard_find_cached "$pattern"; then
    return 0 # made by the set-up we waited for
  fi
  steelyard_say "fetching Catch2 3 (once)"
  if ! steelyard_read_backports >>"$steelyard_log" 2>&1; then
    steelyard_fail "cannot reach the Debian package archive (log: $steelyard_log);" \
      "set Catch2_ROOT to an installed Catch2 3" || return 1
  fi
  if ! {
    cd "$steelyard_work" &&
      apt-get -c apt.conf download libcatch2-dev &&
      dpkg-deb --extract libcatch2-dev_*.deb unpacked &&
      version=$(dpkg-deb --field libcatch2-dev_*.deb Version) &&
      version=${version%%-*} &&
      Catch2_ROOT=$steelyard_work/unpacked/usr steelyard_cmake_finds_catch2 &&
      mv unpacked "$steelyard_cache/${pattern/\*/"$version"}"
  } >>"$steelyard_log" 2>&1; then
    steelyard_fail "cannot get Catch2 3 from the Debian backports (log: $steelyard_log);" \
      "set Catch2_ROOT to an installed Catch2 3"
  fi
}

# Reads the index of the backports into $steelyard_work; use it with `apt-get -c "$steelyard_work/apt.conf"`. The trusted
# keys are the machine's own, so apt verifies the index and with it every file named there.
steelyard_read_backports() {
  local codename address
  codename=$(steelyard_debian_codename)
  # The address from which this machine gets its own release.
  # shellcheck disable=SC2016  # apt-get expands these itself
  address=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(RELEASE) $(CODENAME)' 'Created-By: Packages' \
    2>/dev/null | awk -v release="$codename" '$2 == "main" && ($3 == release || $4 == release) && !found++ { print $1 }')
  if [[ -z $address ]]; then
    echo "apt knows no archive for the release '$codename'"
    return 1
  fi
  mkdir -p "$steelyard_work/lists/partial" "$steelyard_work/archives/partial" &&
    printf 'deb %s %s-backports main\n' "$address" "$codename" >"$steelyard_work/sources.list" &&
    cat >"$steelyard_work/apt.conf" <<END || return 1
Dir::Etc::sourcelist "$steelyard_work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$steelyard_work/lists";
Dir::Cache "$steelyard_work";
Acquire::Languages "none";
// apt's own user can seldom enter a cache folder below somebody's home
APT::Sandbox::User "root";
END
  apt-get -c "$steelyard_work/apt.conf" -o APT::Update::Error-Mode=any update
}
