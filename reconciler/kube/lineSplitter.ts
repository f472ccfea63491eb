/** Cuts a byte stream into its lines: a watch sends one event on each. */

const newline = 0x0a;

/** Returns a function that takes the next bytes and calls back for each line they complete; blank lines are dropped. */
export const createLineSplitter = (onLine: (line: string) => void): ((chunk: Buffer) => void) => {
  let carried: Buffer[] = [];
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      let line = chunk.toString("utf8", from, end);
      if (carried.length > 0) {
        // Joined as bytes: a character may have been cut in two.
        carried.push(chunk.subarray(from, end));
        line = Buffer.concat(carried).toString("utf8");
        carried = [];
      }
      from = end + 1;
      if (line.trim() !== "") onLine(line);
    }
    if (from < chunk.length) carried.push(chunk.subarray(from));
  };
};
