/** `node broken/main.ts BREAK`: the reference engine behind ports that break one promise of the contract. */

import { kitToken } from "../hosts/engineHost.ts";
import { openBrokenPort } from "./brokenPort.ts";
import type { BrokenPlace } from "./doctor.ts";
import { brokenVariants } from "./variants.ts";

interface StartedLine {
  readonly message: string;
  readonly control: { readonly port: number };
  readonly orders: { readonly port: number };
}

const name = process.argv[2] ?? "";
const variant = brokenVariants.find((candidate) => candidate.name === name);
if (variant === undefined) throw new Error(`there is no broken variant "${name}"`);
const doctor = variant.doctor();

/** Where the sound engine listens, once it has told so. */
let inner: StartedLine | null = null;
const outer = { control: process.env["TE_CONTROL_ADDR"] ?? "", orders: process.env["TE_ORDER_ADDR"] ?? "" };
const isAddress = (text: string): boolean => /:\d+$/.test(text);

const place: BrokenPlace = {
  instance: process.env["TE_INSTANCE_ID"] ?? "",
  dataDir: process.env["TE_DATA_DIR"] ?? "",
  async ask(port, { method, path, query, authorization, body }) {
    if (inner === null) throw new Error("the engine has not started");
    const response = await fetch(`http://127.0.0.1:${inner[port].port}${path}${query}`, {
      method,
      headers: { authorization: authorization ?? `Bearer ${kitToken}` },
      ...(body === "" ? {} : { body }),
    });
    return {
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      body: await response.text(),
    };
  },
};

const openPorts = async (): Promise<void> => {
  const target = inner;
  if (target === null) return;
  await doctor.afterStart?.(place);
  for (const port of ["control", "orders"] as const) {
    await openBrokenPort({ port, address: outer[port], innerPort: target[port].port, doctor, place });
  }
};

/** The reference engine logs its addresses when it is up; the broken ports are opened then. */
const readLog = (line: string): void => {
  if (inner !== null || !line.includes('"message":"started"')) return;
  inner = JSON.parse(line) as StartedLine;
  openPorts().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
};

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = ((...args: Parameters<typeof write>) => {
  readLog(String(args[0]));
  return write(...args);
}) as typeof write;

process.on("exit", (code) => {
  process.exitCode = doctor.exitCode?.(code) ?? code;
});

// An address that makes no sense is left for the engine to complain about.
if (isAddress(outer.control)) process.env["TE_CONTROL_ADDR"] = "127.0.0.1:0";
if (isAddress(outer.orders)) process.env["TE_ORDER_ADDR"] = "127.0.0.1:0";
doctor.beforeStart?.(place);
await import("../../../engine/main.ts");
