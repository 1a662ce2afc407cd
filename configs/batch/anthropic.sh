#!/usr/bin/env bash
# Answers requests of `winnow batch export` by Anthropic's batch API, and waits for it: anthropic.sh REQUESTS REPLIES.
# Needs curl, jq and $ANTHROPIC_API_KEY. No key is in a command line, because printf is part of the shell.
set -euo pipefail
requests=$1 replies=$2 api=https://api.anthropic.com/v1/messages/batches
anthropic() {
  curl -sS --fail-with-body -H @<(printf 'x-api-key: %s' "$ANTHROPIC_API_KEY") \
    -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' "$@"
}
batch=$(jq -s '{requests: .}' "$requests" | anthropic $api --data-binary @- | jq -r .id)
echo "batch $batch" >&2
while [[ $(anthropic "$api/$batch" | jq -r .processing_status) != ended ]]; do sleep "${WAIT:-60}"; done
anthropic "$api/$batch/results" >"$replies"
