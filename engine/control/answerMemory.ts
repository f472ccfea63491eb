/** Answers that are kept for callers who ask again because an answer was lost on the way. */
const kept = 256;

/** Sees to it that a call with the same operation id is carried out once, and answered the same. */
export class AnswerMemory {
  readonly #answers = new Map<string, Promise<unknown>>();

  /** A refusal is not kept: it changed nothing, and the same call may succeed later. */
  once<T>(operation: string, carryOut: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(operation);
    // The same operation name always stands for the same kind of answer.
    if (known !== undefined) return known as Promise<T>;
    const answer = carryOut();
    this.#answers.set(operation, answer);
    answer.catch(() => this.#answers.delete(operation));
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= kept) break;
      this.#answers.delete(oldest);
    }
    return answer;
  }
}
