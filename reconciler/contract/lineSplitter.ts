/** Longer lines are not of the contract: without a bound a broken peer could fill the memory. */
const maxLineLength = 1 << 20;

/**
 * Cuts a byte stream into its lines.
 * @returns a function that takes a chunk and gives the lines it completed, without empty ones.
 * @throws {Error} from that function when a line exceeds one mebibyte.
 */
export function createLineSplitter(): (chunk: Uint8Array) => readonly string[] {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > maxLineLength) throw new Error(`a line of the status stream exceeds ${maxLineLength} characters`);
    return parts.filter((line) => line !== "");
  };
}
