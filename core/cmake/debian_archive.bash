# Fetching from the Debian archive without root's rights and without touching the machine's own apt configuration.
# Sourced by setup.bash.
# shellcheck disable=SC2154  # setup.bash sets steelyard_work

steelyard_debian_codename() {
  (source /etc/os-release && printf '%s\n' "${VERSION_CODENAME:-}") 2>/dev/null
}

# Prints the address from which this machine gets its own release.
steelyard_debian_address() {
  # shellcheck disable=SC2016  # apt-get expands these itself
  apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(RELEASE) $(CODENAME)' 'Created-By: Packages' 2>/dev/null |
    awk -v release="$1" '$2 == "main" && ($3 == release || $4 == release) && !found++ { print $1 }'
}

# Reads the index of one suite of the archive into $steelyard_work; use it with `apt-get -c "$steelyard_work/apt.conf"`.
# The trusted keys are the machine's own, so apt verifies the index and with it every file named there.
# SUFFIX follows the name of the machine's release ("" or "-backports").
steelyard_private_apt_update() {
  local suffix=$1 codename address
  codename=$(steelyard_debian_codename)
  address=$(steelyard_debian_address "$codename")
  if [[ -z $address ]]; then
    echo "apt knows no archive for the release '$codename'"
    return 1
  fi
  mkdir -p "$steelyard_work/lists/partial" "$steelyard_work/archives/partial" &&
    printf 'deb %s %s%s main\n' "$address" "$codename" "$suffix" >"$steelyard_work/sources.list" &&
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
