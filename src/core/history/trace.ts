/**
 * A trace is everything that happened in one run, in the order in which it happened, as seen by an
 * observer outside the system. Its index in `events` is an event's number. Checkers read traces and
 * nothing else. Times are true (global virtual) time in integer microseconds.
 *
 * The observer numbers the grants in the order in which they were given. This *ordinal* (from 1)
 * travels, unseen by the programs, with all that is done under a grant; 0 stands for "under none".
 */
import type { TraceEvent } from './events.ts';

/** Everything that happened in one run. */
export interface Trace {
  readonly processes: readonly {
    readonly name: string;
    readonly role: 'client' | 'probe' | 'lock' | 'store';
  }[];
  readonly events: readonly TraceEvent[];
  /** How the run ended: every event was handled, or a limit of the plan or a failure cut it. */
  readonly ending:
    | { readonly kind: 'complete' }
    | { readonly kind: 'cut'; readonly limit: 'maxEvents' | 'end' }
    | {
        /** The system under test threw, or needs what is not simulated. */
        readonly kind: 'failed';
        readonly process: string;
        readonly error: string;
        /** The address at which its code looks for a server that is not simulated, if it does. */
        readonly unserved?: string;
      };
  /** Names in the plan that found no match in the run: a fault's point or message, a decision. */
  readonly unmatched: readonly string[];
  /**
   * The sections that began, by client, those of each in their order. No part of the digest; absent
   * in a trace that was not recorded by a run.
   * @internal
   */
  readonly sections?: readonly SectionRun[];
  /**
   * What code of users printed: `alice | connected`, with what repeats itself counted. No part of
   * the digest; absent where it printed nothing.
   */
  readonly output?: readonly string[];
  /**
   * No part of the digest; absent where everything that was asked for is simulated.
   * @internal
   */
  readonly unsimulated?: readonly Unsimulated[];
}

export type ProcessInfo = Trace['processes'][number];
export type Ending = Trace['ending'];

/** Something that processes asked for and that is not simulated. */
export interface Unsimulated {
  readonly kind: 'command' | 'builtin' | 'protocol';
  /** `XADD`, `cmsgpack`, `http.request`, `PostgreSQL at db:5432`. */
  readonly what: string;
  /** The first place that asked, in the user's own code if it is in the stack: `queue.mjs:9:3`. */
  readonly place: string | null;
  /** The package that asked there, beyond the driver that carries a command; null for none. */
  readonly package: string | null;
  readonly count: number;
}

/** One section of a client or of the probe, from its begin to its end or that of the run. */
export interface SectionRun {
  readonly process: string;
  /** E.g. `alice/1`. */
  readonly section: string;
  readonly beganUs: number;
  readonly end: SectionEnd;
}

export type SectionEnd =
  | {
      readonly kind: 'returned';
      readonly atUs: number;
      /** Asynchronous code returned and had never called `section.guard()`. */
      readonly isUnguarded: boolean;
    }
  | { readonly kind: 'failed'; readonly atUs: number; readonly error: SectionError }
  /** Its process crashed, and did not take it up again. */
  | { readonly kind: 'crashed'; readonly atUs: number }
  /** It had not ended when the run did. `wait` is where its code waits; null if not known. */
  | { readonly kind: 'open'; readonly wait: Wait | null };

/** An `await` in the user's own code that has not come to its end. */
export interface Wait {
  readonly sinceUs: number;
  /** `mutex.mjs:7:5`. */
  readonly place: string;
}

/** What a section threw, or what it did wrong. */
export interface SectionError {
  /** `ReplyError: ERR unknown command 'FOO'`: one line. */
  readonly text: string;
  /** `lock.mjs:12:5` in the code of the user's own; null where that is not known. */
  readonly place: string | null;
}

/** Whether any grant brought a token, or any access carried one. */
export function hasTokens({ events }: Trace): boolean {
  return events.some(
    (event) =>
      (event.kind === 'grant' || event.kind === 'write' || event.kind === 'read') &&
      event.token !== 0,
  );
}

/** The sections that had not ended when the run did; a crash of its own process ends a section. */
export function openSections({ sections = [] }: Trace): readonly SectionRun[] {
  return sections.filter(({ end }) => end.kind === 'open');
}

/** `alice's section 2`, of `alice/2`. */
export function sectionName({ process, section }: Pick<SectionRun, 'process' | 'section'>): string {
  return `${process}'s section ${section.slice(process.length + 1)}`;
}
