/** One contender in a process of its own: neither pays for the other's garbage, nor for code compiled for both. */
import { contenderNames } from "./contenders.ts";
import { measureMatching } from "./matching.ts";

const name = contenderNames.find((each) => each === process.argv[2]);
if (name === undefined) throw new Error(`name one of ${contenderNames.join(", ")}`);
process.send?.(measureMatching(name));
