import type { Server } from "node:net";

import type { ListenAddress } from "./config.ts";
import { FatalError } from "./exit.ts";

/** Listens and answers the bound address. A port that cannot be had is a configuration error named after `variable`. */
export const listen = (server: Server, address: ListenAddress, variable: string): Promise<ListenAddress> =>
  new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(new FatalError("config", `${variable}=${address.host}:${address.port}: ${error.message}`));
    });
    server.listen(address.port, address.host, () => {
      const bound = server.address();
      const port = typeof bound === "object" && bound !== null ? bound.port : address.port;
      resolve({ host: address.host, port });
    });
  });
