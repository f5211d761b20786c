#!/usr/bin/env bash
# The main job: a parameter server and two workers learn a line. Goes on from the last checkpoint when run again.
set -euo pipefail
bin=$1
logdir=log/linear_regression
echo "Training a line on 1 ps and 2 workers; checkpoints and events in $logdir"
exec "$bin/tandem" launch --ps 1 --workers 2 -- "$bin/linear_regression" --logdir="$logdir"
