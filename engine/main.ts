/** Entry of the reference matching engine. Settings come from the TE_* environment, see process/config.ts. */

import { machine } from "./process/machine.ts";
import { refuseFaults } from "./process/refuseFaults.ts";
import { runEngine } from "./process/runEngine.ts";

runEngine((env) => {
  refuseFaults(env);
  return machine;
});
