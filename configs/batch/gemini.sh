#!/usr/bin/env bash
# Answers requests of `winnow batch export` by Gemini's batch API, and waits for it: gemini.sh MODEL REQUESTS REPLIES.
# Needs curl, jq and $GOOGLE_API_KEY. No key is in a command line, because printf is part of the shell.
set -euo pipefail
model=$1 requests=$2 replies=$3 api=https://generativelanguage.googleapis.com
gemini() {
  curl -sS --fail-with-body -H @<(printf 'x-goog-api-key: %s' "$GOOGLE_API_KEY") -H 'content-type: application/json' "$@"
}
upload=$(gemini $api/upload/v1beta/files -o /dev/null -D - -H 'X-Goog-Upload-Protocol: resumable' \
  -H 'X-Goog-Upload-Command: start' -H 'X-Goog-Upload-Header-Content-Type: application/jsonl' \
  -d '{"file": {"display_name": "requests"}}' | tr -d '\r' | sed -n 's/^x-goog-upload-url: //Ip')
file=$(gemini "$upload" -H 'X-Goog-Upload-Offset: 0' -H 'X-Goog-Upload-Command: upload, finalize' \
  --data-binary "@$requests" | jq -r .file.name)
batch=$(gemini "$api/v1beta/models/$model:batchGenerateContent" -d '{"batch": {"display_name": "winnow",
  "input_config": {"file_name": "'"$file"'"}}}' | jq -r .name)
echo "batch $batch" >&2
state=$(gemini "$api/v1beta/$batch")
while [[ $(jq -r .metadata.state <<<"$state") =~ (PENDING|RUNNING)$ ]]; do
  sleep "${WAIT:-60}"
  state=$(gemini "$api/v1beta/$batch")
done
gemini "$api/download/v1beta/$(jq -r .response.responsesFile <<<"$state"):download?alt=media" >"$replies"
