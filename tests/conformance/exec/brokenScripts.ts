/** A change of one script of the shell engine that breaks one promise. */
export interface BrokenScript {
  readonly name: string;
  readonly file: string;
  /** Is in the file once. */
  readonly from: string;
  readonly to: string;
  /** The rule that must notice, and what it sees. */
  readonly fails: string;
  readonly seen: RegExp;
}

export const brokenScripts: readonly BrokenScript[] = [
  {
    name: "is never blank",
    file: "status",
    from: '"$(blank_json)"',
    to: "false",
    fails: "exec-has-every-command",
    seen: /role standby, blank false/,
  },
  {
    name: "promises and forgets",
    file: "fence",
    from: "promise_epoch\n",
    to: ":\n",
    fails: "exec-promise-is-kept",
    seen: /fence 4: fence: exit 0/,
  },
  {
    name: "writes its state in place",
    file: "state.sh",
    from: '  cat >"$1.new"\n',
    to: '  : >"$1"\n  sleep 0.3\n  cat >"$1.new"\n',
    fails: "exec-killed-half-way",
    seen: /status: output|promised 0 after/,
  },
  {
    name: "does not look at what it holds",
    file: "promote_to_primary.sh",
    from: "  refuse $behind",
    to: "  :",
    fails: "exec-behind-exits-4",
    seen: /promote with one record more: promote_to_primary: exit 0/,
  },
  {
    name: "obeys in any role",
    file: "state.sh",
    from: "must_lead() {\n",
    to: "must_lead() {\n  return 0\n",
    fails: "exec-wrong-state-exits-5",
    seen: /demote of a standby: demote: exit (0|75)/,
  },
  {
    name: "acts twice",
    file: "state.sh",
    from: 'if [ -f "$answer" ]; then',
    to: "if false; then",
    fails: "exec-same-operation",
    seen: /promote_to_primary: exit 5/,
  },
  {
    name: "takes any data",
    file: "state.sh",
    from: "|| refuse $foreign",
    to: "|| :",
    fails: "exec-foreign-data-exits-77",
    seen: /as te-9: fence: exit 0/,
  },
  {
    name: "counts no copies",
    file: "state.sh",
    from: '[ "$copies" -ge "$(copies_needed)" ]',
    to: "true",
    fails: "exec-no-ack-before-k-copies",
    seen: /an order without a standby: place: exit 0/,
  },
  {
    name: "serves its old primary",
    file: "state.sh",
    from: '[ "$(read_or "$1/promised" 0)" -le "$2" ] || exit 1',
    to: ":",
    fails: "exec-fenced-is-silent",
    seen: /an order at an isolated primary: place: exit 0/,
  },
  {
    name: "confirms copies that it did not make",
    file: "state.sh",
    from: '>>"$1/journal"',
    to: ">/dev/null",
    fails: "exec-acked-survives-failover",
    seen: /order-0 again: .*"duplicate":false/,
  },
  {
    name: "tells the first position as the last",
    file: "demote",
    from: '"$(position_json)"',
    to: '\'{"epoch":1,"seq":1}\'',
    fails: "exec-demote-tells-final-position",
    seen: /final 1, acknowledged 2/,
  },
  {
    name: "takes orders while drained",
    file: "place",
    from: '|| refuse $retry "new orders',
    to: '|| : "new orders',
    fails: "exec-drain-and-undo",
    seen: /an order while reject: place: exit 0/,
  },
  {
    name: "restores what is damaged",
    file: "restore",
    from: "|| refuse 76",
    to: "|| :",
    fails: "exec-snapshot-restores",
    seen: /restore: exit 0/,
  },
];
