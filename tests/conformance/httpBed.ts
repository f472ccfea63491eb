import type { EngineHost } from "./hosts/engineHost.ts";
import { Lab } from "./lab.ts";
import type { TestBed } from "./runRules.ts";

/** Engines that speak the contract over HTTP, run by `host`. */
export const httpBed = (host: EngineHost): TestBed<Lab> => ({
  subject: host.subject,
  async capabilities() {
    const lab = new Lab(host, "start");
    try {
      const { capabilities } = await (await lab.start("te-0")).status();
      return new Set(capabilities);
    } finally {
      await lab.close();
    }
  },
  openLab: (name) => new Lab(host, name),
  close: () => host.close(),
});
