#!/usr/bin/env bash
# package.bash ROOT BUILD: installs BUILD's libraries alone, and those of a build without Kokkos and MPI, and builds
# programs outside the tree against them, each where only the packages that its component needs can be found.
set -euo pipefail
root=$1 build=$2
alone=$root/build/alone # as deep as BUILD, for the compiler's cache to have its objects
rm -rf "$build/package" "$alone/prefix"
mkdir "$build/package"
cd "$root"
cmake --preset release -B "$alone" -DSTEELYARD_ENABLE_{KOKKOS,MPI}=OFF -DSTEELYARD_ENABLE_TESTS=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_{Kokkos,MPI,hwloc,PNG}=ON "-DCMAKE_CXX_COMPILER_LAUNCHER=$(type -P ccache)"
cmake --build "$alone"
cmake --install "$alone" --component libraries --prefix "$alone/prefix" > "$build/package/install.log"
cmake --install "$build" --component libraries --prefix "$build/package/prefix" > "$build/package/install.log"

# try FOLDER ARGUMENT…: configures the project of tests/package, or of $project, in a folder of its own.
try() {
  cmake -G Ninja -S "${project:-$root/tests/package}" -B "$build/package/$1" "-DCMAKE_PREFIX_PATH=$prefix" \
    "-DCMAKE_CXX_COMPILER_LAUNCHER=$(type -P ccache)" "${@:2}"
}
without=(-DCMAKE_DISABLE_FIND_PACKAGE_{Kokkos,MPI,hwloc,BLAS,PNG,CLI11,Boost,Eigen3}"=ON")

for prefix in "$alone/prefix" "$build/package/prefix"; do # and BUILD's from here on
  rm -rf "$build"/package/{base,models,standalone,any,core,colour}
  for component in base models; do try "$component" -DCOMPONENTS="$component" "${without[@]}"; done
  try standalone -DCOMPONENTS="base;models;partition" -DPROGRAMS=partition "${without[@]}"
  cmake --build "$build/package/standalone"
  "$build/package/standalone/partition"
  # Who names no component gets all that can be had.
  try any -DPROGRAMS=partition "${without[@]}"
  # A component that cannot be had is named, with what it lacks.
  for missing in core colour; do
    if try "$missing" -DCOMPONENTS="partition;$missing" "${without[@]}" > "$build/package/log" 2>&1; then
      echo "component $missing was found" >&2
      exit 1
    fi
    grep -q "component $missing" "$build/package/log"
  done
done
# A part of another project, from a folder of its own; further down one that is fetched.
try subdirectory "-DSTEELYARD=$root" -DPROGRAMS=partition -DSTEELYARD_ENABLE_{KOKKOS,MPI}=OFF \
  -DCMAKE_DISABLE_FIND_PACKAGE_{Kokkos,MPI,hwloc,PNG}=ON -DCMAKE_UNITY_BUILD=ON
cmake --build "$build/package/subdirectory"
"$build/package/subdirectory/partition"
try fetched "-DSTEELYARD=file://$root" -DPROGRAMS="core;comm;app"
cmake --build "$build/package/fetched" --target core
"$build/package/fetched/core"
try everything -DCOMPONENTS="core;comm;app" -DPROGRAMS="core;comm;app"
cmake --build "$build/package/everything"
for program in core comm app; do "$build/package/everything/$program"; done

# All that people get beside the libraries, and no helper of our benchmarks.
cmake --install "$build" --prefix "$build/package/whole" > "$build/package/install.log"
for file in bin/{steelyard,gemm,heat} share/doc/steelyard/{README.md,LICENSE,example/CMakeLists.txt} \
  share/steelyard/schemas/{run,sample,fpm,platform,tool}.schema.json; do
  [[ -s $build/package/whole/$file ]]
done
if compgen -G "$build/package/whole/bin/steelyard-*"; then
  exit 1
fi

# The tutorials as somebody else's project: the same programs as in the tree, whose results name that project's commit.
project=$build/package/outside
cp -r "$prefix/share/doc/steelyard/example" "$project"
git -C "$project" init -q
git -C "$project" add .
git -C "$project" -c user.name=outside -c user.email=outside@example.org commit -q -m "A project outside the tree"
try tutorials -DCMAKE_BUILD_TYPE=Release
cmake --build "$build/package/tutorials"
cd "$build/package"
for bin in "$build/bin" tutorials; do
  output=of-${bin##*/}
  mkdir "$output"
  "$bin/jacobi" --help > "$output/help"
  "$bin/jacobi" --size 700 --steps 12 --partition even --output "$output/x.npy"
  "$bin/heat" --size 300 --steps 12 --partition even --output "$output/u.npy"
done
diff -r of-bin of-tutorials
# Models, balance, prediction and results, by its own tool.
tutorials/tool measure jacobi --size 512 --sizes 64 512 --precision 0.5 --output models
models=(models/rank0-{host,device}.fpm.json)
tutorials/jacobi --size 512 --steps 20 --model "${models[@]}" --result result
grep -q '"passed": true' result/run.json
grep -q "\"commit\": \"$(git -C "$project" rev-parse HEAD)\"" result/run.json
grep -q '"dirty": false' result/run.json
tutorials/jacobi --size 512 --steps 20 --slowdown host=3 --partition dynamic
tutorials/tool predict jacobi --size 512 --model "${models[0]}"
tutorials/tool measure heat --columns 300 --sizes 30 300 --precision 0.5 --output heat-models
tutorials/tool predict heat --size 300 --steps 12 --model heat-models/rank0-host.fpm.json
