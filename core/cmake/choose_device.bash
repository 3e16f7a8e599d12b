# Chooses between the presets release and cuda. Sourced by setup.bash.

# steelyard_choose_device WISH: sets steelyard_preset, for the preset cuda steelyard_architecture, and steelyard_gpu to
# whether this machine has a GPU for it. WISH is an architecture such as sm_90; `any`: that of this machine's GPU, or sm_90
# without one; `none`: the host alone; or empty: this machine's GPU where it has one and the CUDA toolkit.
steelyard_choose_device() {
  local wish=${1:-} found
  steelyard_find_cache || return 1
  steelyard_architecture='' steelyard_preset=release steelyard_gpu=false
  if [[ ! $wish =~ ^(|any|none|sm_[0-9]+)$ ]]; then
    steelyard_fail "--device=$wish (expected an architecture such as sm_90, or none)" || return 2
  fi
  if [[ $wish == none ]]; then return 0; fi
  if [[ -z $(type -P nvcc) && -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]]; then
    PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
  fi
  if [[ -z $(type -P nvcc) ]]; then
    if [[ -z $wish ]]; then return 0; fi
    steelyard_fail "--device needs the CUDA toolkit: nvcc is neither on PATH nor in ${CUDA_HOME:-/usr/local/cuda}/bin" || return 3
  fi
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -nE '1s/^([0-9]+)\.([0-9]+)$/sm_\1\2/p') || true
  if [[ $wish == sm_* ]]; then
    steelyard_architecture=$wish
  elif [[ -n $found ]]; then
    steelyard_architecture=$found
  elif [[ $wish == any ]]; then
    steelyard_architecture=sm_90
  else
    return 0
  fi
  steelyard_preset=cuda
  if [[ -n $found ]]; then
    steelyard_gpu=true
  else
    steelyard_say "no GPU on this machine: built for $steelyard_architecture, run on the host alone"
    steelyard_stand_in_for_driver
  fi
}

# Lets programs start that load the driver's library, on a machine without the driver: the toolkit has a stub of it.
steelyard_stand_in_for_driver() {
  local stubs folder=$steelyard_cache/cuda-stubs
  if /sbin/ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then return 0; fi
  stubs=$(dirname "$(dirname "$(readlink -f "$(type -P nvcc)")")")/lib64/stubs
  mkdir -p "$folder" && ln -sfn "$stubs/libcuda.so" "$folder/libcuda.so.1" &&
    export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}
