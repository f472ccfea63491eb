import { type AddressOf, openStatusStream, type StatusStream, type StreamView } from "../contract/index.ts";

/** Streams are opened for these. */
export interface StreamTarget {
  readonly uid: string;
  readonly name: string;
  readonly ip: string;
}

export interface EngineStreamsOptions {
  readonly addressOf: AddressOf;
  readonly token: { get(): Promise<string>; invalidate(): void };
  readonly heartbeatMs: number;
  readonly silenceMs: number;
  readonly now: () => number;
  readonly onChange: () => void;
}

interface OpenStream {
  readonly ip: string;
  readonly stream: StatusStream;
}

/** The status streams of one engine's pods. Keyed by uid: a new pod of the same name is another process. */
export class EngineStreams {
  readonly #options: EngineStreamsOptions;
  readonly #open = new Map<string, OpenStream>();

  constructor(options: EngineStreamsOptions) {
    this.#options = options;
  }

  /** Opens what is missing and closes what is not a target any more. */
  follow(targets: readonly StreamTarget[]): void {
    const wanted = new Map(targets.map((target) => [target.uid, target]));
    for (const [uid, { ip, stream }] of this.#open) {
      if (wanted.get(uid)?.ip === ip) continue;
      stream.close();
      this.#open.delete(uid);
    }
    for (const [uid, target] of wanted) {
      if (this.#open.has(uid)) continue;
      const { addressOf, token, ...options } = this.#options;
      const stream = openStatusStream({
        ...options,
        address: addressOf(target).control,
        token: () => token.get(),
        onUnauthorized: () => token.invalidate(),
      });
      this.#open.set(uid, { ip: target.ip, stream });
    }
  }

  view(uid: string): StreamView | undefined {
    return this.#open.get(uid)?.stream.view();
  }

  views(): readonly StreamView[] {
    return [...this.#open.values()].map(({ stream }) => stream.view());
  }

  close(): void {
    this.follow([]);
  }
}
