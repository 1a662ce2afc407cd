#!/usr/bin/env bash
# Compares Winnow's requests with providers' own software, for a person: CI has no network.
#   scripts/test-providers.sh [BUILD]     BUILD: a build folder with agents_test and winnow
# 1. The bodies of requests against the types of the official libraries from npm: openai,
#    @anthropic-ai/sdk, @google/genai, compared by tsc. Needs npm and a network.
# 2. A run through llama-server with random weights, in the formats chat and responses. Needs the
#    package llama.cpp, which Debian has after release 13; any llama-server in PATH will do.
# Says what it skips and why. Exits with 1 if anything differs, with 77 if all was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
ran=0

skip() { echo "skipped: $1: $2"; }

write_checks() { # each body becomes a constant that must have the library's type
  mkdir "$work/bodies"
  WINNOW_BODIES=$work/bodies "$build/agents/agents_test" --gtest_brief=1 \
    --gtest_filter=WireFormats.WriteBodiesForTheProvidersTypes >/dev/null
  {
    echo 'import type OpenAI from "openai";'
    echo 'import type Anthropic from "@anthropic-ai/sdk";'
    echo 'import type * as Gemini from "@google/genai";'
    cat scripts/provider_types.ts
    local format type size
    while read -r format type; do
      for size in full plain; do
        echo "export const ${format}_$size: $type = $(<"$work/bodies/${format}_$size.json");"
      done
    done <<'TYPES'
chat OpenAI.ChatCompletionCreateParams
responses ResponsesBody
anthropic Anthropic.MessageCreateParams
gemini GeminiBody
TYPES
  } >"$work/check.ts"
}

check_types() {
  local what="types of the official libraries"
  command -v npm >/dev/null || { skip "$what" "npm is not installed (Debian: npm)"; return; }
  [[ -x $build/agents/agents_test ]] || { skip "$what" "$build has no agents_test"; return; }
  if ! npm install --prefix "$work" --silent --no-audit --no-fund --ignore-scripts \
    openai @anthropic-ai/sdk @google/genai typescript @types/node >"$work/npm.log" 2>&1; then
    skip "$what" "npm cannot fetch them: $(tail -1 "$work/npm.log")"
    return
  fi
  write_checks
  ran=1
  (cd "$work" && npx --no-install tsc --noEmit --strict --skipLibCheck --target es2022 \
    --module nodenext --moduleResolution nodenext --types node check.ts)
  (cd "$work" && npm ls --depth=0 openai @anthropic-ai/sdk @google/genai | sed -n 's/^.*── /accepted by the types of /p')
}

start_server() { # with a model of random weights
  python3 scripts/random_gguf.py "$work/model.gguf"
  llama-server --model "$work/model.gguf" --host 127.0.0.1 --port "$1" --ctx-size 65536 \
    --parallel 1 >"$work/server.log" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    curl -fs "http://127.0.0.1:$1/health" >/dev/null && return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.2
  done
  tail -5 "$work/server.log" >&2
  return 1
}

run_through_server() {
  local what="a run through llama-server" tool port=8719 kind
  for tool in llama-server python3 curl sqlite3; do
    command -v "$tool" >/dev/null || { skip "$what" "$tool is not installed"; return; }
  done
  [[ -x $build/winnow ]] || { skip "$what" "$build has no winnow"; return; }
  start_server "$port"
  ran=1
  for kind in chat responses; do # noise is no kernel: what counts is that every call is answered
    "$build/winnow" run configs/live.toml --store "$work/$kind.db" --name random --device cpu \
      --set 'run.tasks=["axpy"]' --set run.proposals=2 --set endpoint.kind=$kind \
      --set endpoint.base_url="http://127.0.0.1:$port/v1" --set endpoint.model=random \
      --set endpoint.max_output_tokens=64
    [[ $(sqlite3 "$work/$kind.db" "SELECT count(*) FROM model_calls WHERE status = 'ok'") -gt 0 ]]
    echo "llama-server answers $kind"
  done
}

check_types
run_through_server
[[ $ran -eq 1 ]] || exit 77
