/**
 * A trace is everything that happened in one run, in order, as seen by an observer outside the
 * system. The number of an event is its index in `events`. Checkers read traces and nothing else.
 * Times are true (global virtual) time in integer microseconds.
 *
 * The observer numbers the grants from 1 in the order in which they were given. This *grant number*
 * is recorded with everything done under the grant, and programs never see it; 0 means no grant.
 */
import type { TraceEvent } from './events.ts';

/** Everything that happened in one run. */
export interface Trace {
  readonly processes: readonly {
    readonly name: string;
    readonly role: 'client' | 'probe' | 'lock' | 'store';
  }[];
  readonly events: readonly TraceEvent[];
  /** End of the run: all events were handled, or a limit of the plan or a failure stopped it. */
  readonly ending:
    | { readonly kind: 'complete' }
    | { readonly kind: 'cut'; readonly limit: 'maxEvents' | 'end' }
    | {
        /** The system under test threw an error, or needs something that is not simulated. */
        readonly kind: 'failed';
        readonly process: string;
        readonly error: string;
        /** Address of a server that is not simulated, if connecting to it is the cause. */
        readonly unserved?: string;
      };
  /** Names in the plan's faults and decisions that matched nothing in the run. */
  readonly unmatched: readonly string[];
  /**
   * The sections that began, grouped by client and in order. Not part of the digest; absent if the
   * trace does not come from a run.
   * @internal
   */
  readonly sections?: readonly SectionRun[];
  /**
   * Lines that user code printed, with repetitions counted: `alice | connected`. Not part of the
   * digest; absent if nothing was printed.
   */
  readonly output?: readonly string[];
  /**
   * Requested features that are not simulated; absent if there are none. Not part of the digest.
   * @internal
   */
  readonly unsimulated?: readonly Unsimulated[];
}

export type ProcessInfo = Trace['processes'][number];
export type Ending = Trace['ending'];

/** A requested feature that is not simulated. */
export interface Unsimulated {
  readonly kind: 'command' | 'builtin' | 'protocol';
  /** `XADD`, `cmsgpack`, `http.request`, `PostgreSQL at db:5432`. */
  readonly what: string;
  /** First place of the request, in user code if the stack contains any: `queue.mjs:9:3`. */
  readonly place: string | null;
  /**
   * The package that made the request, or null. A driver does not count for the commands it sends.
   */
  readonly package: string | null;
  readonly count: number;
}

/** One section of a client or the probe, from its start to its end or the end of the run. */
export interface SectionRun {
  readonly process: string;
  /** Such as `alice/1`. */
  readonly section: string;
  readonly beganUs: number;
  readonly end: SectionEnd;
}

export type SectionEnd =
  | {
      readonly kind: 'returned';
      readonly atUs: number;
      /** True if asynchronous code returned without calling `section.guard()`. */
      readonly isUnguarded: boolean;
    }
  | { readonly kind: 'failed'; readonly atUs: number; readonly error: SectionError }
  /** The process crashed and did not resume the section. */
  | { readonly kind: 'crashed'; readonly atUs: number }
  /** Unfinished at the end of the run. `wait` is its current `await`, or null if unknown. */
  | { readonly kind: 'open'; readonly wait: Wait | null };

/** An unfinished `await` in user code. */
export interface Wait {
  readonly sinceUs: number;
  /** Such as `mutex.mjs:7:5`. */
  readonly place: string;
}

/** An error that a section threw, or a misuse that was detected in it. */
export interface SectionError {
  /** One line: `ReplyError: ERR unknown command 'FOO'`. */
  readonly text: string;
  /** Place in user code, such as `lock.mjs:12:5`, or null if unknown. */
  readonly place: string | null;
}

/** Returns true if any grant, write or read has a token. */
export function hasTokens({ events }: Trace): boolean {
  return events.some(
    (event) =>
      (event.kind === 'grant' || event.kind === 'write' || event.kind === 'read') &&
      event.token !== 0,
  );
}

/** Returns the sections that were unfinished at the end of the run. A crash ends a section. */
export function openSections({ sections = [] }: Trace): readonly SectionRun[] {
  return sections.filter(({ end }) => end.kind === 'open');
}

/** Returns `alice's section 2` for `alice/2`. */
export function sectionName({ process, section }: Pick<SectionRun, 'process' | 'section'>): string {
  return `${process}'s section ${section.slice(process.length + 1)}`;
}
