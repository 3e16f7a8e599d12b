#!/usr/bin/env bash
#SBATCH --job-name=steelyard
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=16
#SBATCH --hint=nomultithread
#SBATCH --time=00:30:00
# With GPUs, a task drives one:
##SBATCH --gpus-per-task=1
#
# Models of the job's nodes are measured once and then used by every prediction and run: sbatch slurm.bash
set -euo pipefail
set +u # what modules read may be unset
module load steelyard
set -u

results=$SLURM_SUBMIT_DIR/steelyard-$SLURM_JOB_ID
# Each task keeps the cores that it is bound to; a companion takes one of them.
start=(srun --cpu-bind=cores --cpus-per-task="$SLURM_CPUS_PER_TASK")

"${start[@]}" steelyard calibrate --output "$results/here.platform.json"
"${start[@]}" steelyard measure wave2d --columns 16384 --output "$results/models"
models=()
for ((rank = 0; rank < SLURM_NTASKS; ++rank)); do
  for kind in host device; do # in the order of the units
    if [[ -e $results/models/rank$rank-$kind.fpm.json ]]; then models+=("$results/models/rank$rank-$kind.fpm.json"); fi
  done
done
"${start[@]}" wave2d --size 16384 --steps 200 --model "${models[@]}" --platform "$results/here.platform.json" --dry-run
"${start[@]}" wave2d --size 16384 --steps 200 --model "${models[@]}" --platform "$results/here.platform.json" \
  --result "$results/wave2d"
