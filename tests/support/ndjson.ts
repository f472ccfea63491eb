/**
 * The values of NDJSON text, one after the other, without a second copy of the text.
 *
 * @throws Error that names the line that is not JSON, such as one that was cut off.
 */
export function* parseNdjson<T>(text: string): Generator<T> {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length : end + 1;
    number++;
    if (line.trim() === "") continue;
    try {
      yield JSON.parse(line) as T;
    } catch {
      throw new Error(`line ${number} is not JSON: ${line.slice(0, 100)}`);
    }
  }
}
