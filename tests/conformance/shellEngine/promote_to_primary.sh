#!/bin/sh
# Leads TE_EPOCH, if this replica holds TE_MIN_EPOCH/TE_MIN_SEQ. TE_K copies are needed before an order is acknowledged.
set -eu
. "$(dirname "$0")/state.sh"
need_number TE_MIN_EPOCH
need_number TE_MIN_SEQ
need_number TE_K
begin_operation promote
set -- $(position)
if [ "$1" -lt "$TE_MIN_EPOCH" ] || { [ "$1" -eq "$TE_MIN_EPOCH" ] && [ "$2" -lt "$TE_MIN_SEQ" ]; }; then
  refuse $behind "record $2 of epoch $1 is held here, record $TE_MIN_SEQ of epoch $TE_MIN_EPOCH is needed"
fi
[ "$1" -lt "$TE_EPOCH" ] || refuse $wrong_state "epoch $TE_EPOCH has begun before"
[ "$(read_or "$TE_DATA_DIR/upstream" "0 nobody" | cut -d' ' -f1)" -lt "$TE_EPOCH" ] ||
  refuse $wrong_state "another replica leads epoch $TE_EPOCH"
promise_epoch
rm -f "$TE_DATA_DIR"/followers/* "$TE_DATA_DIR/upstream"
echo "${TE_RESUME:-open}" | write_durably "$TE_DATA_DIR/intake"
# The role last: until it is written this replica leads nothing.
printf 'primary %s %s\n' "$TE_EPOCH" "$TE_K" | write_durably "$TE_DATA_DIR/role"
append "epochStart $TE_INSTANCE_ID - - -"
printf '{"epoch":%s,"durable":%s}\n' "$TE_EPOCH" "$(position_json)" | end_operation
