/** The Prometheus text format, as far as the engine uses it. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

export const counter = (name: string, help: string, samples: Family["samples"]): Family => ({
  name,
  help,
  type: "counter",
  samples,
});

export const gauge = (name: string, help: string, samples: Family["samples"]): Family => ({
  name,
  help,
  type: "gauge",
  samples,
});

export const renderFamily = ({ name, help, type, samples }: Family): string =>
  [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${renderLabels(labels ?? {})} ${value}`),
    "",
  ].join("\n");

/** Observations in fixed buckets; observing allocates nothing. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  /** `bounds` are the inclusive upper limits of the buckets, ascending. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  render(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`];
    let cumulative = 0;
    this.#counts.forEach((count, bucket) => {
      cumulative += count;
      lines.push(`${this.#name}_bucket${renderLabels({ le: String(this.#bounds[bucket] ?? "+Inf") })} ${cumulative}`);
    });
    lines.push(`${this.#name}_sum ${this.#sum}`, `${this.#name}_count ${cumulative}`, "");
    return lines.join("\n");
  }
}

/** Events counted by one label. */
export class LabelledCounter {
  readonly #label: string;
  readonly #counts = new Map<string, number>();

  constructor(label: string) {
    this.#label = label;
  }

  add(value: string): void {
    this.#counts.set(value, this.of(value) + 1);
  }

  of(value: string): number {
    return this.#counts.get(value) ?? 0;
  }

  samples(): Sample[] {
    return [...this.#counts].map(([label, value]) => ({ labels: { [this.#label]: label }, value }));
  }
}

const renderLabels = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

const escape = (value: string): string => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
