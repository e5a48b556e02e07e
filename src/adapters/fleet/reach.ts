/** What is said while a sweep goes on: each line once; that the queue is away, and is back. */

const MOST_LINES = 1_000;

/** Says each line once. */
export class Teller {
  private readonly note: (line: string) => void;
  private readonly told: Set<string> = new Set();

  constructor(note: (line: string) => void) {
    this.note = note;
  }

  /** False where it was said before. */
  tell(line: string): boolean {
    if (this.told.has(line)) return false;
    if (this.told.size >= MOST_LINES) this.told.clear();
    this.told.add(line);
    this.note(line);
    return true;
  }
}

/** Whether the queue answers, told when it changes. */
export class Reach {
  private readonly note: (line: string) => void;
  private isAway = false;

  constructor(note: (line: string) => void) {
    this.note = note;
  }

  away({ message }: Error): void {
    if (!this.isAway) this.note(`the queue does not answer: ${message}; waiting for it`);
    this.isAway = true;
  }

  answers(): void {
    if (this.isAway) this.note('the queue answers again');
    this.isAway = false;
  }
}
