/**
 * What ended a section, as the counts of sections tell it: in one line, with the call that failed
 * and with the place in the user's code. Beside it, what is the user's mistake and ends the run,
 * and what is something that the world did, and ends the section.
 */
import type { SectionError } from '../../core/history/trace.ts';
import { errorText } from '../../text/error-text.ts';
import { about, blameOf, type CallSite, ownPlaceIn } from './call-site.ts';

/** Something was still under way when what it belongs to ended: an `await` was forgotten. */
class Unfinished extends Error {
  override readonly name = 'Unfinished';
}

/** `guard.work() at lock.mjs:12:5 was still under way when …: await it`. */
export function unfinished(call: { what: string; site: CallSite }, when: string): Error {
  const { what, site } = call;
  const place = ownPlaceIn(site);
  const where = place === null ? '' : ` at ${place}`;
  const text = `${what}${where} was still under way when ${when}: await it`;
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

/** Whether the code is wrong, rather than the world it met. */
export function isMistake(error: unknown): boolean {
  return !(error instanceof Error) || MISTAKES.includes(error.name);
}

const LONGEST = 200;

/** `ReplyError: ERR no such command`, cut to one line that is not too long. */
export function lineOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${errorText(error)}` : errorText(error);
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

export function sectionErrorOf(error: unknown): SectionError {
  const blame = blameOf(error);
  const line = lineOf(error).trimEnd();
  const isTold = blame === null || line.toLowerCase().includes(blame.call.toLowerCase());
  const text = isTold ? line : `${line} (${blame.call})`;
  const site = blame?.site ?? (error instanceof Error ? stackOf(error) : null);
  return { text, place: site === null ? null : ownPlaceIn(site) };
}

/** Whoever threw it may have made its stack anything. */
function stackOf(error: Error): CallSite {
  try {
    return typeof error.stack === 'string' ? { stack: error.stack } : {};
  } catch {
    return {};
  }
}
