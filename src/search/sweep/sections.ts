/**
 * Counts the sections of a system: how many the plans had, and how each ended. The counts show
 * whether a sweep without breaches really did something. The trace records how each section ended;
 * its events show what the section did before. The probe is not counted. Each section that began
 * has exactly one end:
 *
 *     planned >= began = ended + gaveUp + failed + crashed + open
 *
 * Errors with the same place and text, ignoring numbers and ids, are counted as one. Only the first
 * few errors in order of place and text are kept. An error among the first few of all seeds is also
 * among the first few of each part in which it occurs. So the counts depend neither on how the
 * seeds were split nor on the order of merging.
 */
import type { Return, TraceEvent } from '../../core/history/events.ts';
import type { SectionRun, Trace } from '../../core/history/trace.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { sectionOf } from '../../core/kernel/name.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { withoutIds } from '../../text/output-lines.ts';
import { groupDigits } from '../../text/prose.ts';

/** All fields except `failed` count sections. */
export interface SectionCounts {
  readonly planned: number;
  readonly began: number;
  /** Returned without giving up. */
  readonly ended: number;
  /** Had not ended when their run ended. */
  readonly open: number;
  /** Got their lock or, if there is no lock, reached a store. */
  readonly entered: number;
  /** Returned without being granted the lock that they requested. */
  readonly gaveUp: number;
  /** A store refused one of their accesses. */
  readonly refused: number;
  readonly crashed: number;
  /**
   * Ended without a call to `section.guard()`, although none of their requests was denied or
   * failed. Only for asynchronous code.
   */
  readonly unguarded: number;
  /** Errors that ended sections of asynchronous code, at most `KEPT_ERRORS`. */
  readonly failed: readonly SectionErrorCount[];
  /** Sections ended by any other error. */
  readonly otherFailed: number;
}

export interface SectionErrorCount {
  /** The text of the error on `firstSeed`. */
  readonly error: string;
  /** The place in user code, such as `lock.mjs:12:5`, or null if unknown. */
  readonly place: string | null;
  /** Number of sections that the error ended. */
  readonly count: number;
  readonly firstSeed: number;
}

/** Maximum number of different errors to keep. The others are only counted. */
export const KEPT_ERRORS = 10;

export const NO_SECTIONS: SectionCounts = {
  planned: 0,
  began: 0,
  ended: 0,
  open: 0,
  entered: 0,
  gaveUp: 0,
  refused: 0,
  crashed: 0,
  unguarded: 0,
  failed: [],
  otherFailed: 0,
};

export function mergeSections(a: SectionCounts, b: SectionCounts): SectionCounts {
  const errors = new Map<string, SectionErrorCount>();
  for (const error of a.failed) addError(errors, error);
  for (const error of b.failed) addError(errors, error);
  const { failed, otherFailed } = keptOf(errors);
  return {
    planned: a.planned + b.planned,
    began: a.began + b.began,
    ended: a.ended + b.ended,
    open: a.open + b.open,
    entered: a.entered + b.entered,
    gaveUp: a.gaveUp + b.gaveUp,
    refused: a.refused + b.refused,
    crashed: a.crashed + b.crashed,
    unguarded: a.unguarded + b.unguarded,
    failed,
    otherFailed: a.otherFailed + b.otherFailed + otherFailed,
  };
}

function addError(errors: Map<string, SectionErrorCount>, error: SectionErrorCount): void {
  const key = `${error.place ?? ''} ${withoutIds(error.error)}`;
  const known = errors.get(key);
  if (known === undefined) errors.set(key, error);
  else {
    const first = error.firstSeed < known.firstSeed ? error : known;
    errors.set(key, { ...first, count: known.count + error.count });
  }
}

function keptOf(
  errors: ReadonlyMap<string, SectionErrorCount>,
): Pick<SectionCounts, 'failed' | 'otherFailed'> {
  const sorted = [...errors].sort(([x], [y]) => (x < y ? -1 : 1)).map(([, error]) => error);
  const otherFailed = sorted.slice(KEPT_ERRORS).reduce((sum, { count }) => sum + count, 0);
  return { failed: sorted.slice(0, KEPT_ERRORS), otherFailed };
}

/** Returns the number of sections that an error ended. */
export function failedSections({ failed, otherFailed }: SectionCounts): number {
  return failed.reduce((sum, { count }) => sum + count, otherFailed);
}

/** Describes the ends of sections: `9 ended by ReplyError: … at lock.mjs:12:5, 2 gave up`. */
export function fateText(sections: SectionCounts): string {
  const { began, open, gaveUp, crashed, unguarded, failed } = sections;
  if (began === 0) return 'none began';
  const [first] = mostFirst(failed);
  const others = failedSections(sections) - (first?.count ?? 0);
  const parts = [
    first === undefined ? '' : `${groupDigits(first.count)} ended by ${errorPlace(first)}`,
    others === 0 ? '' : `${groupDigits(others)} by other errors`,
    gaveUp === 0 ? '' : `${groupDigits(gaveUp)} gave up`,
    unguarded === 0 ? '' : `${groupDigits(unguarded)} returned without section.guard()`,
    crashed === 0 ? '' : `${groupDigits(crashed)} crashed`,
    open === 0 ? '' : `${groupDigits(open)} never ended`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? `${groupDigits(began)} began` : parts.join(', ');
}

/**
 * Renders an error with its place: `ReplyError: ERR unknown command 'FOO' at lock.mjs:12:5`. Omits
 * the place if the error contains it.
 */
export function errorPlace({ error, place }: SectionErrorCount): string {
  if (place === null || error.includes(place)) return error;
  return `${error.replace(/\.$/, '')} at ${place}`;
}

/** Sorts errors by the number of sections that they ended, most first. */
export function mostFirst(errors: readonly SectionErrorCount[]): readonly SectionErrorCount[] {
  return [...errors].sort((a, b) => b.count - a.count || a.firstSeed - b.firstSeed);
}

/** Counts the sections of several runs. Seeds must be added in ascending order. */
export class SectionCounter {
  private readonly sums: Draft<SectionCounts> = { ...NO_SECTIONS };
  private readonly errors: Map<string, SectionErrorCount> = new Map();

  add(seed: number, { clients }: Pick<Plan, 'clients'>, trace: Trace): void {
    const { sums } = this;
    for (const { sections } of clients) sums.planned += sections.length;
    const walk = new Walk(trace);
    for (const section of walk.sections.values()) {
      const { end } = section.run;
      sums.began += 1;
      if (walk.isEntered(section)) sums.entered += 1;
      if (section.isRefused) sums.refused += 1;
      if (end.kind === 'crashed' || end.kind === 'open') sums[end.kind] += 1;
      else if (end.kind === 'failed') {
        // The same error in several clients is one error.
        const error = end.error.text.replace(`: ${section.run.process} `, ': it ');
        addError(this.errors, { error, place: end.error.place, count: 1, firstSeed: seed });
      } else if (walk.hasGivenUp(section)) sums.gaveUp += 1;
      else {
        sums.ended += 1;
        if (end.isUnguarded && !section.isDenied) sums.unguarded += 1;
      }
    }
  }

  counts(): SectionCounts {
    return { ...this.sums, ...keptOf(this.errors) };
  }
}

interface Seen {
  readonly run: SectionRun;
  /** The prefix of the names of its operations: `alice/1/`. */
  readonly prefix: string;
  hasEntered: boolean;
  hasAsked: boolean;
  hasAccessed: boolean;
  isDenied: boolean;
  isRefused: boolean;
}

/** Verbs that request a lock, or the current token of a lock. */
export const ASKS: ReadonlySet<string> = new Set(['acquire', 'fetch']);

class Walk {
  readonly sections: Map<string, Seen> = new Map();
  /** By operation name. A lookup is cheaper than splitting the name. */
  private readonly byOperation: Map<string, Seen> = new Map();
  private readonly latest: Map<string, Seen> = new Map();
  private hasLock = false;

  constructor({ processes, events, sections = [] }: Trace) {
    const probes = new Set<string>();
    for (const { name, role } of processes) {
      if (role === 'probe') probes.add(name);
      if (role === 'lock') this.hasLock = true;
    }
    for (const run of sections) {
      if (!probes.has(run.process)) this.sections.set(run.section, unseen(run));
    }
    for (const event of events) {
      // Half of all events are messages, which sections do not need.
      if (event.kind !== 'send' && event.kind !== 'receive') this.pass(event);
    }
  }

  isEntered({ hasEntered, hasAccessed }: Seen): boolean {
    return hasEntered || (hasAccessed && !this.hasLock);
  }

  /** Returns true if the section returned after requesting a lock in vain. */
  hasGivenUp({ hasEntered, hasAsked, isDenied, run: { end } }: Seen): boolean {
    if (hasEntered || end.kind !== 'returned') return false;
    return end.isUnguarded ? isDenied : hasAsked;
  }

  private pass(event: TraceEvent): void {
    switch (event.kind) {
      case 'invoke': {
        const section = this.sectionOf(event.process, event.operation);
        if (section === null) return;
        this.byOperation.set(event.operation, section);
        if (!('lock' in event.call)) section.hasAccessed = true;
        else if (ASKS.has(event.call.verb)) {
          section.hasAsked = true;
          this.hasLock = true;
        }
        return;
      }
      case 'return':
        this.hear(event);
        return;
      case 'enter': {
        const section = this.sections.get(event.section);
        if (section === undefined) return;
        section.hasEntered = true;
        this.hasLock = true;
        return;
      }
      case 'read':
      case 'write': {
        if (event.isAccepted) return;
        const section = this.byOperation.get(event.operation);
        if (section !== undefined) section.isRefused = true;
      }
    }
  }

  private hear({ operation, outcome, answer }: Return): void {
    const section = this.byOperation.get(operation);
    if (section === undefined) return;
    if (outcome !== 'ok' || answer?.kind === 'denied') section.isDenied = true;
  }

  /** Returns the section of an operation. Null for the probe and outside of sections. */
  private sectionOf(process: string, operation: string): Seen | null {
    const before = this.latest.get(process);
    // Most operations of a process belong to its latest section.
    if (before !== undefined && operation.startsWith(before.prefix)) return before;
    const section = this.sections.get(sectionOf(operation)) ?? null;
    if (section !== null) this.latest.set(process, section);
    return section;
  }
}

/** An object literal for speed: one is created per section and run. */
function unseen(run: SectionRun): Seen {
  return {
    run,
    prefix: `${run.section}/`,
    hasEntered: false,
    hasAsked: false,
    hasAccessed: false,
    isDenied: false,
    isRefused: false,
  };
}
