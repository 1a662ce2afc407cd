#!/bin/bash
# Workers under Slurm, which starts them and is not the queue (docs/distributed.md). Each element of the array
# has a user of its own: winnow broker init --trusted-worker w0@h200 --trusted-worker w1@h200 ...
#SBATCH --array=0-7
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=8
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@120
winnow worker --broker nats://alpha:4222 --broker-credentials "$HOME/broker/w$SLURM_ARRAY_TASK_ID.credentials" \
  --pool h200 --trusted --device cuda:0 &
trap 'kill -TERM $!; wait' TERM
wait
