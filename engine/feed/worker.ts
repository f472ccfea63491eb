/** Entry of the feed's thread: readers, however many and however slow, cost the engine's own thread nothing. */
import { parentPort, workerData } from "node:worker_threads";

import { messageOf } from "../process/log.ts";
import { FeedServer } from "./feedServer.ts";
import type { FeedThreadData, FromFeed, ToFeed } from "./messages.ts";

const run = (): void => {
  if (parentPort === null) throw new Error("this module is the entry of a worker thread");
  const port = parentPort;
  const tell = (message: FromFeed): void => port.postMessage(message);
  // Only the main thread of this process starts this worker, with exactly this.
  const { address } = workerData as FeedThreadData;
  const server = new FeedServer({ askForBook: () => tell({ kind: "book" }) });
  port.on("message", (message: ToFeed) => {
    server.receive(message);
    if (message.kind === "batch") tell({ kind: "taken" });
  });
  server.listen(address).then(
    (bound) => tell({ kind: "listening", address: bound }),
    (error: unknown) => tell({ kind: "failed", detail: messageOf(error) }),
  );
};

run();
