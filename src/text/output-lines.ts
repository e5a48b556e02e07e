/**
 * Keeps printed lines in bounded memory by counting repetitions. Two lines count as equal if they
 * differ only in words with digits and in the name of their process. Blocks of several lines are
 * counted the same way:
 *
 *     alice | connect ECONNREFUSED 10.0.0.1:6379
 *     … 812 more
 */
import { groupDigits } from './prose.ts';

const MOST_LINES = 400;
const MOST_COLUMNS = 500;
/** Longest repeating block to look for: a stack trace and the lines printed with it. */
const MOST_PERIOD = 40;
/** Up to this many repeated lines are printed in full. */
const FEW = 8;

/** Masks words with a digit, which may differ each time. */
export function withoutIds(text: string): string {
  return text.replace(/[\w-]*\d[\w.-]*/g, '#');
}

interface Line {
  readonly text: string;
  /** Equal for lines that repeat each other. */
  readonly key: string;
  /** Repetitions of the block that ends with this line, or null if it was not repeated. */
  repeated: { readonly period: number; readonly times: number } | null;
}

export class OutputLines {
  private readonly kept: Line[] = [];
  private left = 0;

  /** Adds a line without its line end. `process` is '' if unknown. */
  add(process: string, printed: string): void {
    if (this.kept.length >= MOST_LINES) {
      this.left += 1;
      return;
    }
    const shortened =
      printed.length > MOST_COLUMNS ? `${printed.slice(0, MOST_COLUMNS)}…` : printed;
    const anonymous = process === '' ? shortened : shortened.replaceAll(process, '@');
    const text = process === '' ? shortened : `${process} | ${shortened}`;
    this.kept.push({ text, key: withoutIds(anonymous), repeated: null });
    for (let period = 1; period <= MOST_PERIOD; period += 1) if (this.fold(period)) return;
  }

  /** If the last lines repeat the `period` lines before them, counts and removes them. */
  private fold(period: number): boolean {
    const { kept } = this;
    const before = kept.at(-1 - period)?.repeated ?? null;
    const isCounted = before?.period === period;
    const times = isCounted ? 1 : Math.ceil((FEW + 1) / period);
    const begin = kept.length - times * period;
    const end = kept[begin - 1];
    if (end === undefined || begin < period) return false;
    for (let at = kept.length - 1; at >= begin; at -= 1) {
      const [line, other] = [kept[at], kept[at - period]];
      if (line?.key !== other?.key || line?.repeated !== null) return false;
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

/** Returns at most `most` lines; the last one counts the lines that were left out. */
export function firstLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const more = `… ${groupDigits(lines.length - most + 1)} more lines`;
  return [...lines.slice(0, most - 1), more];
}
