#!/usr/bin/env bash
# packaging.bash ROOT BUILD VERSION: what core/packaging offers fits the tree.
set -euo pipefail
root=$1 build=$2 version=$3
cd "$root/core/packaging"
bash -n slurm.bash
grep -qx "version: $version" "$root/CITATION.cff"
python3 "$root/tests/checks/recipes.py" "$root" "$build/bin" "$version"

# What the container's recipe runs is bash, of functions that there are.
source "$root/core/cmake/setup.bash"
steps=$(sed -nE "/^RUN bash/,/'$/{s/^RUN .* '//;s/'$//;s/ \\\\$//;p}" Containerfile)
bash -n <<<"$steps"
for name in $(grep -oE '\bsteelyard_[a-z_]+' <<<"$steps"); do
  [[ $steps == *"\$$name"* || -n $(declare -F "$name") ]] || { echo "Containerfile: there is no $name" >&2 && exit 1; }
done

# completes LINE WORDS: the last word of the line is completed to these.
source completion.bash
completes() {
  read -ra COMP_WORDS <<<"$1"
  if [[ $1 == *" " ]]; then COMP_WORDS+=(""); fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _steelyard "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  if [[ ${COMPREPLY[*]} != "$2" ]]; then
    echo "'$1' is completed to '${COMPREPLY[*]}' (expected '$2')" >&2
    return 1
  fi
}
PATH=$build/bin:$PATH
completes "steelyard mea" measure
completes "steelyard measure wav" wave2d
completes "steelyard partition --algo" --algorithm
completes "jacobi --rep" --repetitions
completes "jacobi --check la" last
completes "jacobi --size 4 --units host+" host+device
completes "jacobi --output " ""

# The module's paths are those of the installation that it lies in.
if [[ -n $(type -P tclsh) ]]; then
  tclsh <<'TCL' | grep -qx "PATH /opt/steelyard/bin"
    proc module-whatis {text} {}
    proc conflict {name} {}
    proc prepend-path {name path} { puts "$name $path" }
    set ModulesCurrentModulefile /opt/steelyard/share/modulefiles/steelyard/0.1.0
    source modulefile
TCL
fi
