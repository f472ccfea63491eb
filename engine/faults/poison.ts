import type { JournalRecord } from "../journal/record.ts";

/** Fails on every order whose client id begins with `prefix`, as a fault of the state machine would: on every replica. */
export const poison =
  (prefix: string) =>
  ({ seq, command }: JournalRecord): void => {
    if (command.kind === "order" && command.clientId.startsWith(prefix)) {
      throw new Error(`record ${seq} is poison: TE_FAULTS says so`);
    }
  };
