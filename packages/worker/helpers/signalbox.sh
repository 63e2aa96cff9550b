# What a task written in sh can ask of Signalbox while it runs. Needs curl.
#
#   . "$SIGNALBOX_HELPERS/signalbox.sh"
#   from=$(signalbox_checkpoint || echo 0)
#   signalbox_progress 0.5 "half of the files"
#   signalbox_save "$next"

_signalbox() {
  _signalbox_method=$1 _signalbox_path=$2
  shift 2
  curl --silent --show-error --fail-with-body --unix-socket "$SIGNALBOX_SOCKET" -X "$_signalbox_method" \
    "http://signalbox$_signalbox_path" "$@"
}

# A text as JSON.
_signalbox_text() {
  printf '"%s"' "$(printf '%s' "$1" | tr '\n\t\r' '   ' | sed 's/[\\"]/\\&/g')"
}

# signalbox_progress <fraction from 0 to 1, or null> [words]
signalbox_progress() {
  _signalbox POST /progress --data-binary "{\"fraction\":${1:-null},\"note\":$(_signalbox_text "${2:-}")}"
}

# Prints what an earlier attempt has saved, as JSON; fails when there is nothing.
signalbox_checkpoint() {
  _signalbox_found=$(_signalbox GET /checkpoint) || return
  [ -n "$_signalbox_found" ] && printf '%s\n' "$_signalbox_found"
}

# signalbox_save <JSON>: kept for the next attempt once this returns.
signalbox_save() {
  _signalbox PUT /checkpoint --data-binary "$1"
}

# Fails when this attempt does not hold the task any more: ask before a write to an outside system.
signalbox_assert_owned() {
  _signalbox POST /assert-owned
}

# signalbox_extend <milliseconds>: prints {"leftMs":…}.
signalbox_extend() {
  _signalbox POST /extend --data-binary "{\"ms\":$1}"
}

# signalbox_add_tasks <JSON list>: tasks for this run, as '[{"name":"load-a","template":"load","inputs":{"file":"a"}}]'. They begin once this
# task has succeeded.
signalbox_add_tasks() {
  _signalbox POST /tasks --data-binary "$1"
}

# signalbox_output <JSON>
signalbox_output() {
  _signalbox PUT /output --data-binary "$1"
}

# signalbox_fail <transient, permanent or resource> <words> [milliseconds to wait]: what the exit that follows means.
signalbox_fail() {
  _signalbox POST /failure --data-binary "{\"class\":\"$1\",\"message\":$(_signalbox_text "${2:-}"),\"retryAfterMs\":${3:-0}}"
}
