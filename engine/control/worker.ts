/** Entry of the control thread. */
import { parentPort, workerData } from "node:worker_threads";

import { monotonicClock } from "../process/clock.ts";
import { messageOf } from "../process/log.ts";
import { ControlServer } from "./controlServer.ts";
import { MainThreadClient } from "./mainThreadClient.ts";
import type { ControlThreadData, FromControl, ToControl } from "./messages.ts";
import { type StatusSnapshot, statusAsOf } from "./status.ts";

/** The main thread may be stuck: what follows from its silence is looked at this often. */
const selfCheckMs = 100;

const run = (): void => {
  if (parentPort === null) throw new Error("this module is the entry of a worker thread");
  const port = parentPort;
  // Only the main thread of this process starts this worker, with exactly this.
  const data = workerData as ControlThreadData & { readonly snapshot: StatusSnapshot };
  let { snapshot } = data;
  const main = new MainThreadClient(port);
  const server = new ControlServer({
    ...data,
    main,
    status: () => statusAsOf(snapshot, monotonicClock(), data.limits),
  });
  port.on("message", (message: ToControl) => {
    if (message.kind === "answer") {
      main.resolve(message.id, message.answer);
      return;
    }
    snapshot = message.snapshot;
    server.noticeStatus();
  });
  setInterval(() => server.noticeStatus(), selfCheckMs).unref();
  const tell = (message: FromControl): void => port.postMessage(message);
  server.listen().then(
    (address) => tell({ kind: "listening", address }),
    (error: unknown) => tell({ kind: "failed", detail: messageOf(error) }),
  );
};

run();
