#!/usr/bin/env bash
# Answers requests of `winnow batch export` by OpenAI's batch API, and waits for it: openai.sh REQUESTS REPLIES.
# Needs curl, jq and $OPENAI_API_KEY. No key is in a command line, because printf is part of the shell.
set -euo pipefail
requests=$1 replies=$2 api=https://api.openai.com/v1
openai() { curl -sS --fail-with-body -H @<(printf 'Authorization: Bearer %s' "$OPENAI_API_KEY") "$@"; }
file=$(openai $api/files -F purpose=batch -F "file=@$requests" | jq -r .id)
url=$(head -n 1 "$requests" | jq -r .url) # /v1/responses or, with --format chat, /v1/chat/completions
batch=$(openai $api/batches -H 'content-type: application/json' \
  -d '{"input_file_id": "'"$file"'", "endpoint": "'"$url"'", "completion_window": "24h"}' | jq -r .id)
echo "batch $batch" >&2
state=$(openai "$api/batches/$batch")
while [[ $(jq -r .status <<<"$state") =~ ^(validating|in_progress|finalizing|cancelling)$ ]]; do
  sleep "${WAIT:-60}"
  state=$(openai "$api/batches/$batch")
done
for id in $(jq -r '.output_file_id // empty, .error_file_id // empty' <<<"$state"); do
  openai "$api/files/$id/content"
done >"$replies"
