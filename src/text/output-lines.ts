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
  /** Equal for lines that repeat each other. */
  readonly key: string;
  /** How often the block that ends with it was repeated; null for never. */
  repeated: { readonly period: number; readonly times: number } | null;
}

export class OutputLines {
  private readonly kept: Line[] = [];
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
    this.kept.push({ text, key: withoutIds(anonymous), repeated: null });
    for (let period = 1; period <= MOST_PERIOD; period += 1) if (this.fold(period)) return;
  }

  /** Counts the last lines, and takes them away, if they repeat a block of so many before them. */
  private fold(period: number): boolean {
    const { kept } = this;
    const before = kept.at(-1 - period)?.repeated ?? null;
    const isCounted = before?.period === period;
    const times = isCounted ? 1 : Math.ceil((FEW + 1) / period);
    const begin = kept.length - times * period;
    const end = kept[begin - 1];
    if (end === undefined || begin < period) return false;
    for (let at = kept.length - 1; at >= begin; at -= 1) {
      const [one, other] = [kept[at], kept[at - period]];
      if (one?.key !== other?.key || one?.repeated !== null) return false;
      if (other?.repeated !== null && !(isCounted && other === end)) return false;
    }
    end.repeated = { period, times: times + (before?.times ?? 0) };
    kept.length = begin;
    return true;
  }

  get lines(): readonly string[] {
    const shown = this.kept.flatMap(({ text, repeated }) => {
      if (repeated === null) return [text];
      const { period, times } = repeated;
      return [
        text,
        `… ${groupDigits(times)} more${period === 1 ? '' : ` of these ${period} lines`}`,
      ];
    });
    return this.left === 0 ? shown : [...shown, `… ${groupDigits(this.left)} more lines`];
  }
}

/** Returns the first lines, at most `most`, the last of which counts those that are left out. */
export function firstLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const more = `… ${groupDigits(lines.length - most + 1)} more lines`;
  return [...lines.slice(0, most - 1), more];
}
