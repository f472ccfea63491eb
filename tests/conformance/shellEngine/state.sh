# Sourced by every command: reads and writes what one replica holds below $TE_DATA_DIR.
#
#   identity   cluster uid and instance that own the folder
#   promised   the lowest epoch that this replica takes part in
#   role       "primary EPOCH K", "standby" or "fenced"
#   intake     "open", "cancelOnly" or "reject", of a primary
#   upstream   "EPOCH INSTANCE", of a standby that follows
#   journal    a record a line: EPOCH SEQ KIND CLIENT-ID SIDE PRICE QUANTITY
#   followers/ data folder of each replica that follows this one
#   answers/   what an operation answered, by its id
#   cut-tails/ records that a new primary never had

done_=0 bad_call=64 retry=75 stale=3 behind=4 wrong_state=5 foreign=77

# Ends the command with exit code $1 and the reason $2.
refuse() {
  printf '%s\n' "$2" >&2
  exit "$1"
}

# A variable that the caller must have set.
need() {
  eval "[ -n \"\${$1:-}\" ]" || refuse $bad_call "$1 must be set"
}

# As need, and a whole number.
need_number() {
  need "$1"
  eval "case \$$1 in *[!0-9]*) refuse $bad_call \"$1 must be a whole number\" ;; esac"
}

# Replaces file $1 by standard input: after any crash the old or the new content, after this only the new one.
write_durably() {
  cat >"$1.new"
  sync "$1.new"
  mv "$1.new" "$1"
  sync "$(dirname "$1")"
}

read_or() {
  if [ -f "$1" ]; then cat "$1"; else printf '%s\n' "$2"; fi
}

promised() { read_or "$TE_DATA_DIR/promised" 0; }
role() { set -- $(read_or "$TE_DATA_DIR/role" standby); printf '%s\n' "$1"; }
led_epoch() { set -- $(read_or "$TE_DATA_DIR/role" standby); printf '%s\n' "${2:-0}"; }
copies_needed() { set -- $(read_or "$TE_DATA_DIR/role" standby); printf '%s\n' "${3:-0}"; }

# "EPOCH SEQ" of the last record of journal $1.
position_of() { awk 'END { if (NR == 0) print "0 0"; else print $1, $2 }' "$1"; }
position() { position_of "$TE_DATA_DIR/journal"; }
position_json() { set -- $(position); printf '{"epoch":%s,"seq":%s}' "$1" "$2"; }
blank_json() { [ -s "$TE_DATA_DIR/journal" ] && printf false || printf true; }

# Hash of the records of journal $1, whatever epoch they were written in.
hash_of() { cut -d' ' -f2- "$1" | sha256sum | cut -c1-16; }

# One process at a time works on the data folder $1; file descriptor $2 holds the lock until the command ends.
lock_folder() {
  eval "exec $2>\"\$1/lock\""
  flock -w 5 "$2" || refuse $retry "$1 is in use"
}

# Claims the data folder, or checks that it is ours. A write that a crash tore is cut off.
open_data() {
  need TE_CLUSTER_UID
  need TE_INSTANCE_ID
  need TE_DATA_DIR
  mkdir -p "$TE_DATA_DIR/followers" "$TE_DATA_DIR/answers" "$TE_DATA_DIR/cut-tails"
  lock_folder "$TE_DATA_DIR" 9
  owner="$TE_CLUSTER_UID $TE_INSTANCE_ID"
  [ -f "$TE_DATA_DIR/identity" ] || printf '%s\n' "$owner" | write_durably "$TE_DATA_DIR/identity"
  [ "$(cat "$TE_DATA_DIR/identity")" = "$owner" ] || refuse $foreign "$TE_DATA_DIR belongs to $(cat "$TE_DATA_DIR/identity")"
  [ -f "$TE_DATA_DIR/journal" ] || : | write_durably "$TE_DATA_DIR/journal"
  if [ -s "$TE_DATA_DIR/journal" ] && [ -n "$(tail -c1 "$TE_DATA_DIR/journal")" ]; then
    sed '$d' "$TE_DATA_DIR/journal" | write_durably "$TE_DATA_DIR/journal"
  fi
}

# Begins the mutating operation $1: its facts are there, its epoch is not stale. An operation that was done answers again.
begin_operation() {
  need TE_OP_ID
  need_number TE_EPOCH
  case $TE_OP_ID in */* | .*) refuse $bad_call "TE_OP_ID must be a file name" ;; esac
  open_data
  answer="$TE_DATA_DIR/answers/$1-$TE_OP_ID"
  if [ -f "$answer" ]; then
    cat "$answer"
    exit $done_
  fi
  [ "$TE_EPOCH" -ge "$(promised)" ] || refuse $stale "epoch $(promised) was promised, $TE_EPOCH is lower"
}

# Ends it: the answer, from standard input, is kept for a caller that asks again.
end_operation() {
  write_durably "$answer"
  cat "$answer"
}

promise_epoch() { printf '%s\n' "$TE_EPOCH" | write_durably "$TE_DATA_DIR/promised"; }

must_lead() {
  [ "$(role)" = primary ] && [ "$(led_epoch)" = "$TE_EPOCH" ] ||
    refuse $wrong_state "this replica is $(role) and does not lead epoch $TE_EPOCH"
}

# Copies what replica folder $1 lacks of our journal, as the primary of epoch $2. Fails when it left that epoch.
copy_to() {
  (
    lock_folder "$1" 8
    [ "$(read_or "$1/promised" 0)" -le "$2" ] || exit 1
    [ "$(read_or "$1/upstream" none)" = "$2 $TE_INSTANCE_ID" ] || exit 1
    set -- "$1" $(position_of "$1/journal")
    awk -v after="$3" '$2 > after' "$TE_DATA_DIR/journal" >>"$1/journal"
    sync "$1/journal"
  )
}

# Copies the journal to all followers, and fails when fewer than k of them have it.
replicate() {
  copies=0
  for follower in "$TE_DATA_DIR"/followers/*; do
    [ -f "$follower" ] || continue
    if copy_to "$(cat "$follower")" "$(led_epoch)"; then copies=$((copies + 1)); fi
  done
  [ "$copies" -ge "$(copies_needed)" ]
}

# Appends a record with what follows EPOCH and SEQ in $1.
append() {
  set -- "$1" $(position)
  printf '%s %s %s\n' "$(led_epoch)" $(($3 + 1)) "$1" >>"$TE_DATA_DIR/journal"
  sync "$TE_DATA_DIR/journal"
}
