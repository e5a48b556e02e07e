/**
 * Describes the error that ended a section: one line with the failed call, and the place in the
 * user's code. A user mistake ends the run; a fault ends only the section.
 */
import type { SectionError } from '../../core/history/trace.ts';
import { errorText } from '../../text/error-text.ts';
import { about, blameOf, type CallSite, userPlaceIn } from './call-site.ts';

/** An operation was still in progress when its owner ended, because an `await` is missing. */
class Unfinished extends Error {
  override readonly name = 'Unfinished';
}

/** Returns the error `guard.work() at lock.mjs:12:5 was still in progress when …: await it`. */
export function unfinished(call: { what: string; site: CallSite }, when: string): Error {
  const { what, site } = call;
  const place = userPlaceIn(site);
  const where = place === null ? '' : ` at ${place}`;
  const text = `${what}${where} was still in progress when ${when}: await it`;
  return about(new Unfinished(text), { site, call: '' });
}

const MISTAKES: readonly string[] = [
  'TypeError',
  'ReferenceError',
  'SyntaxError',
  'RangeError',
  'EvalError',
  'AssertionError',
  'LeftTheWorld',
  'Unfinished',
];

/** Returns true if the error is a mistake in the code rather than the result of a fault. */
export function isMistake(error: unknown): boolean {
  return !(error instanceof Error) || MISTAKES.includes(error.name);
}

const LONGEST = 200;

/** Returns one line such as `ReplyError: ERR no such command`, truncated if too long. */
export function lineOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${errorText(error)}` : errorText(error);
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

export function sectionErrorOf(error: unknown): SectionError {
  const blame = blameOf(error);
  const line = lineOf(error).trimEnd();
  const isNamed = blame === null || line.toLowerCase().includes(blame.call.toLowerCase());
  const text = isNamed ? line : `${line} (${blame.call})`;
  const site = blame?.site ?? (error instanceof Error ? stackOf(error) : null);
  return { text, place: site === null ? null : userPlaceIn(site) };
}

/** The code that threw the error may have set `error.stack` to any value. */
function stackOf(error: Error): CallSite {
  try {
    return typeof error.stack === 'string' ? { stack: error.stack } : {};
  } catch {
    return {};
  }
}
