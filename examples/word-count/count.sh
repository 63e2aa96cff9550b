#!/bin/sh
# Counts a word in all texts that were deployed with the dag.
set -eu
count=$(cat word-count/text/*.txt | tr -c 'A-Za-z' '\n' | grep -c -i -x "$1" || true)
printf '{"count": %d}' "$count" > "$SIGNALBOX_OUTPUT"
