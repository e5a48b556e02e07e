/**
 * Keeps the lines that a run printed, in bounded memory: what repeats itself is counted. Lines are
 * equal if they differ only in words with digits and in the name of their process, and a block of
 * several lines repeats itself as one line does:
 *
 *     alice | connect ECONNREFUSED 10.0.0.1:6379
 *     … 812 more
 */
import { groupDigits } from './prose.ts';

const MOST_LINES = 400;
const MOST_COLUMNS = 500;
/** The longest block that is looked for: a stack and what was printed with it. */
const MOST_PERIOD = 40;
/** Repeated lines that are shown all the same. */
const FEW = 8;

/** Returns the text without what may differ each time: words with a digit in them. */
export function withoutIds(text: string): string {
  return text.replace(/[\w-]*\d[\w.-]*/g, '#');
}

interface Line {
  readonly text: string;
  /** Null of a line that stands for others, which equals none. */
  readonly key: string | null;
}

/** A block that repeats itself. */
interface Repetition {
  readonly block: readonly Line[];
  /** Lines that followed the first block. */
  count: number;
  /** The last of them: all while they are few, then those of the block that is not complete. */
  readonly last: Line[];
}

export class OutputLines {
  private readonly kept: Line[] = [];
  private repetition: Repetition | null = null;
  private left = 0;

  /** Adds a line without its end; `process` is '' where it is not known. */
  add(process: string, printed: string): void {
    if (this.kept.length >= MOST_LINES) {
      this.left += 1;
      return;
    }
    const cut = printed.length > MOST_COLUMNS ? `${printed.slice(0, MOST_COLUMNS)}…` : printed;
    const anonymous = process === '' ? cut : cut.replaceAll(process, '@');
    const text = process === '' ? cut : `${process} | ${cut}`;
    this.take({ text, key: withoutIds(anonymous) });
  }

  private take(line: Line): void {
    const { repetition, kept } = this;
    if (repetition === null) {
      kept.push(line);
      this.repetition = this.repetitionAtEnd();
      return;
    }
    const { block, last } = repetition;
    if (block[repetition.count % block.length]?.key === line.key) {
      repetition.count += 1;
      last.push(line);
      if (repetition.count > FEW && repetition.count % block.length === 0) last.length = 0;
      return;
    }
    kept.push(...linesOf(repetition));
    this.repetition = null;
    this.take(line);
  }

  /** The block that the last lines repeat, which are taken back; null if they repeat none. */
  private repetitionAtEnd(): Repetition | null {
    const { kept } = this;
    for (let period = 1; period <= MOST_PERIOD && 2 * period <= kept.length; period += 1) {
      const isSame = (at: number): boolean => {
        const { key = null } = kept[kept.length - 1 - at] ?? {};
        return key !== null && key === kept[kept.length - 1 - at - period]?.key;
      };
      let same = 0;
      while (same < period && isSame(same)) same += 1;
      if (same < period) continue;
      const last = kept.splice(kept.length - period);
      const few = period > FEW ? [] : last;
      return { block: kept.slice(kept.length - period), count: period, last: few };
    }
    return null;
  }

  get lines(): readonly string[] {
    const { kept, repetition, left } = this;
    const all = repetition === null ? kept : [...kept, ...linesOf(repetition)];
    const more = left === 0 ? [] : [`… ${groupDigits(left)} more lines`];
    return [...all.map(({ text }) => text), ...more];
  }
}

function linesOf({ block, count, last }: Repetition): readonly Line[] {
  if (last.length === count) return last;
  const times = groupDigits(Math.floor(count / block.length));
  const what = block.length === 1 ? '' : ` of these ${block.length} lines`;
  return [{ text: `… ${times} more${what}`, key: null }, ...last];
}

/** Returns the first lines, at most `most`, the last of which counts those that are left out. */
export function firstLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const more = `… ${groupDigits(lines.length - most + 1)} more lines`;
  return [...lines.slice(0, most - 1), more];
}
