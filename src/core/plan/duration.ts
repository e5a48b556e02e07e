/**
 * Durations as people write them, `10ms` or `1.5s`, and as fencepost counts them: in integer
 * microseconds. Decided in integers only, so that no microsecond is lost on the way.
 */
import type { RangeUs } from './plan.ts';

const UNITS: ReadonlyMap<string, number> = new Map([
  ['us', 1],
  ['ms', 1_000],
  ['s', 1_000_000],
  ['min', 60_000_000],
  ['h', 3_600_000_000],
]);

/** A duration as it stands in a file, for a JSON Schema; `0` needs no unit. */
export const DURATION_PATTERN = '^(0|\\d+(\\.\\d+)?(us|ms|s|min|h))$';

const DURATION = /^(\d{1,16})(?:\.(\d{1,16}))?(us|ms|s|min|h)$/;

/**
 * `10ms`, `250us`, `1.5s`, `5min`, `2h` or `0`, in microseconds. Undefined when it is nothing of
 * the kind, no whole number of microseconds, or too large for a safe integer.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const [, whole = '', fraction = '', unit = ''] = DURATION.exec(text) ?? [];
  const scale = UNITS.get(unit);
  if (scale === undefined) return undefined;
  const digits = fraction.replace(/0+$/, '');
  const parts = BigInt(whole + digits) * BigInt(scale);
  const divisor = 10n ** BigInt(digits.length);
  if (parts % divisor !== 0n || parts / divisor > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return Number(parts / divisor);
}

/** A duration that may be negative, `-5ms`: how far a clock is moved. */
export function parseStep(text: string): number | undefined {
  if (!text.startsWith('-')) return parseDuration(text);
  const size = parseDuration(text.slice(1));
  return size === undefined || size === 0 ? size : -size;
}

/**
 * `1ms..5ms`, or one duration for a range of one value. Undefined when the ends are out of order.
 */
export function parseRange(text: string): RangeUs | undefined {
  return orderedRange(text, parseDuration);
}

/** `-5ms..5ms`, or one step. */
export function parseStepRange(text: string): RangeUs | undefined {
  return orderedRange(text, parseStep);
}

function orderedRange(
  text: string,
  parse: (part: string) => number | undefined,
): RangeUs | undefined {
  const at = text.indexOf('..');
  const minUs = parse(at < 0 ? text : text.slice(0, at));
  const maxUs = at < 0 ? minUs : parse(text.slice(at + 2));
  if (minUs === undefined || maxUs === undefined || minUs > maxUs) return undefined;
  return { minUs, maxUs };
}

/** The same time as text, exactly: `10ms`, `9.999ms`, `250us`, `1.5s`, `24h`, `0ms`, `-5ms`. */
export function formatDuration(us: number): string {
  if (us < 0) return `-${formatDuration(-us)}`;
  if (us === 0) return '0ms';
  if (us % 3_600_000_000 === 0) return `${us / 3_600_000_000}h`;
  if (us >= 1_000_000) return `${decimal(us, 1_000_000, 6)}s`;
  return us >= 1_000 ? `${decimal(us, 1_000, 3)}ms` : `${us}us`;
}

/** A duration with a space before its unit: `10 ms`. Exact. Whole, signed microseconds. */
export function proseDuration(us: number): string {
  const sign = us < 0 ? '−' : '';
  return sign + formatDuration(Math.abs(us)).replace(/(\d)([a-zµ])/g, '$1 $2');
}

/** `9999` in thousands is `9.999`. */
function decimal(value: number, scale: number, places: number): string {
  const rest = value % scale;
  const whole = String((value - rest) / scale);
  if (rest === 0) return whole;
  return `${whole}.${String(rest).padStart(places, '0').replace(/0+$/, '')}`;
}

/** `1ms..5ms`, or `5ms` where both ends are equal. */
export function formatRange({ minUs, maxUs }: RangeUs): string {
  const min = formatDuration(minUs);
  return minUs === maxUs ? min : `${min}..${formatDuration(maxUs)}`;
}
