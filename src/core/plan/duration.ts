/**
 * Times as text and as integer microseconds, converted with integer arithmetic only, so that no
 * microsecond is lost. Durations are `10ms` or `1.5s`; instants follow RFC 3339, in UTC:
 * `2024-01-01` or `2024-01-01T12:30:00Z`.
 *
 * The epoch is the time of a correct wall clock at the start of a run; the whole world sees the
 * same epoch. The default is 0, or 2024 for asynchronous code, since real code may refuse 1970.
 */
/** From `minUs` to `maxUs`, both included. */
export interface RangeUs {
  readonly minUs: number;
  readonly maxUs: number;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['us', 1],
  ['ms', 1_000],
  ['s', 1_000_000],
  ['min', 60_000_000],
  ['m', 60_000_000],
  ['h', 3_600_000_000],
]);

/** Pattern of a duration in a file, for a JSON Schema. `0` needs no unit. */
export const DURATION_PATTERN = '^(0|\\d+(\\.\\d+)?(us|ms|s|min|m|h))$';

const DURATION = /^(\d{1,16})(?:\.(\d{1,16}))?(us|ms|s|min|m|h)$/;

/**
 * Parses `10ms`, `250us`, `1.5s`, `5min` (or `5m`), `2h` or `0` into microseconds. Returns
 * undefined for other text, fractions of a microsecond, and numbers beyond the safe integers.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const [, integer = '', fraction = '', unit = ''] = DURATION.exec(text) ?? [];
  const scale = UNITS.get(unit);
  if (scale === undefined) return undefined;
  const digits = fraction.replace(/0+$/, '');
  const parts = BigInt(integer + digits) * BigInt(scale);
  const divisor = 10n ** BigInt(digits.length);
  if (parts % divisor !== 0n || parts / divisor > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return Number(parts / divisor);
}

/** Parses a duration that may be negative, such as the clock step `-5ms`. */
export function parseStep(text: string): number | undefined {
  if (!text.startsWith('-')) return parseDuration(text);
  const size = parseDuration(text.slice(1));
  return size === undefined || size === 0 ? size : -size;
}

/** Parses `1ms..5ms` or a single duration. Returns undefined if the ends are out of order. */
export function parseRange(text: string): RangeUs | undefined {
  return orderedRange(text, parseDuration);
}

/** Parses `-5ms..5ms` or a single step. */
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

/** Formats a time exactly: `10ms`, `9.999ms`, `250us`, `1.5s`, `24h`, `0ms`, `-5ms`. */
export function formatDuration(us: number): string {
  if (us < 0) return `-${formatDuration(-us)}`;
  if (us === 0) return '0ms';
  if (us % 3_600_000_000 === 0) return `${us / 3_600_000_000}h`;
  if (us >= 1_000_000) return `${decimal(us, 1_000_000, 6)}s`;
  return us >= 1_000 ? `${decimal(us, 1_000, 3)}ms` : `${us}us`;
}

/** Formats whole, signed microseconds exactly, with a space before the unit: `10 ms`. */
export function proseDuration(us: number): string {
  const sign = us < 0 ? '−' : '';
  return sign + formatDuration(Math.abs(us)).replace(/(\d)([a-zµ])/g, '$1 $2');
}

/** Formats `9999` in thousands as `9.999`. */
function decimal(value: number, scale: number, places: number): string {
  const rest = value % scale;
  const integer = String((value - rest) / scale);
  if (rest === 0) return integer;
  return `${integer}.${String(rest).padStart(places, '0').replace(/0+$/, '')}`;
}

/** Formats a range as `1ms..5ms`, or as `5ms` if both ends are equal. */
export function formatRange({ minUs, maxUs }: RangeUs): string {
  const min = formatDuration(minUs);
  return minUs === maxUs ? min : `${min}..${formatDuration(maxUs)}`;
}

/** 2024-01-01T00:00:00Z. */
export const ASYNC_EPOCH_US = 1_704_067_200_000_000;

/** Pattern of an instant in a file, for a JSON Schema. */
export const INSTANT_PATTERN = '^(0|\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,6})?Z)?)$';

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?Z)?$/;

const DAY_US = 86_400_000_000;
const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** In 2255, microseconds since 1970 plus the time of a run would exceed the safe integers. */
const FIRST_YEAR_TOO_LATE = 2200;

/**
 * Parses an instant into microseconds since 1970. Returns undefined for other text, and for years
 * before 1970 or from 2200.
 */
export function parseInstant(text: string): number | undefined {
  if (text === '0') return 0;
  const [, y = '', m = '', d = '', hours = '0', minutes = '0', seconds = '0', fraction = ''] =
    INSTANT.exec(text) ?? [];
  const [year, month, day] = [Number(y), Number(m), Number(d)];
  if (year < 1970 || year >= FIRST_YEAR_TOO_LATE || month < 1 || month > 12 || day < 1)
    return undefined;
  if (day > daysOfMonth(year, month)) return undefined;
  let days = daysBefore(year) + day - 1;
  for (let before = 1; before < month; before += 1) days += daysOfMonth(year, before);
  const secondsOfDay = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return days * DAY_US + secondsOfDay * 1_000_000 + Number(fraction.padEnd(6, '0'));
}

/** Formats `us`, an integer from 0 to the end of 2199, as text for `parseInstant`. */
export function formatInstant(us: number): string {
  let days = Math.floor(us / DAY_US);
  const rest = us - days * DAY_US;
  let year = 1970 + Math.floor(days / 366);
  while (daysBefore(year + 1) <= days) year += 1;
  days -= daysBefore(year);
  let month = 1;
  while (days >= daysOfMonth(year, month)) {
    days -= daysOfMonth(year, month);
    month += 1;
  }
  const date = [digits(year, 4), digits(month, 2), digits(days + 1, 2)].join('-');
  return rest === 0 ? date : `${date}T${timeOfDay(rest)}Z`;
}

function timeOfDay(us: number): string {
  const seconds = Math.floor(us / 1_000_000);
  const fraction = digits(us % 1_000_000, 6).replace(/0+$/, '');
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  const time = parts.map((part) => digits(Math.floor(part), 2)).join(':');
  return fraction === '' ? time : `${time}.${fraction}`;
}

function digits(value: number, least: number): string {
  return String(value).padStart(least, '0');
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysOfMonth(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (MONTHS[month - 1] ?? 0);
}

/** Days from 1970-01-01 to January 1 of `year`. */
function daysBefore(year: number): number {
  const leaps = (last: number): number =>
    Math.floor(last / 4) - Math.floor(last / 100) + Math.floor(last / 400);
  return (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
}
