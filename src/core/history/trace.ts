/**
 * A trace is everything that happened in one run, in the order in which it happened, as seen by an
 * observer outside the system. Its index in `events` is an event's number. Checkers read traces and
 * nothing else. Times are true (global virtual) time in integer microseconds.
 *
 * The observer numbers the grants in the order in which they were given. This *ordinal* (from 1)
 * travels, unseen by the programs, with all that is done under a grant; 0 stands for "under none".
 */
import type { Json } from '../kernel/json.ts';
import type { FaultKind } from '../plan/fault.ts';
import type {
  Deed,
  Deny,
  Grant,
  GrantEnd,
  Happening,
  KeyChange,
  Read,
  Recovered,
  Release,
  Renew,
  Write,
} from './server-events.ts';

export interface Trace {
  readonly processes: readonly ProcessInfo[];
  readonly events: readonly TraceEvent[];
  /** How the run ended: every event was handled, or a limit of the plan or a failure cut it. */
  readonly ending: Ending;
  /** Names in the plan that found no match in the run: a fault's point or message, a decision. */
  readonly unmatched: readonly string[];
  /**
   * The sections that began, by client, those of each in their order. No part of the digest; absent
   * in a trace that was not recorded by a run.
   */
  readonly sections?: readonly SectionRun[];
  /**
   * What code of users printed: `alice | connected`, with what repeats itself counted. No part of
   * the digest; absent where it printed nothing.
   */
  readonly output?: readonly string[];
  /** No part of the digest; absent where everything that was asked for is simulated. */
  readonly unsimulated?: readonly Unsimulated[];
}

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

export interface ProcessInfo {
  readonly name: string;
  readonly role: 'client' | 'probe' | 'lock' | 'store';
}

export type Ending =
  | { readonly kind: 'complete' }
  | { readonly kind: 'cut'; readonly limit: 'maxEvents' | 'end' }
  /** The system under test threw, or needs what is not simulated. */
  | {
      readonly kind: 'failed';
      readonly process: string;
      readonly error: string;
      /** The address at which its code looks for a server that is not simulated, if it does. */
      readonly unserved?: string;
    };

export type TraceEvent =
  | (Send | Receive | Lose | Invoke | Return)
  | (FaultInjected | FaultEnds | Healed)
  | (Mark | Enter | Leave | LeaseTest | Job | Log)
  | (Grant | Deny | Renew | Release | GrantEnd | Deadlock | Deliver)
  | (Write | Read | Recovered | KeyChange);

/** What happens to a message; `message` is its name, e.g. `alice/1/write/1/request`. */
interface Transit<Kind extends string> extends Happening<Kind> {
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

/** A message leaves. */
export interface Send extends Transit<'send'> {
  readonly body: Json;
}

/** A message is handled by the process that it was sent to (after any pause of it). */
export interface Receive extends Transit<'receive'> {
  /** The message's second execution, under a `duplicate` fault. */
  readonly isCopy: boolean;
}

/** A message will never be handled, or is discarded. */
export interface Lose extends Transit<'lose'> {
  readonly cause: 'drop' | 'partition' | 'crash' | 'reset' | 'late';
}

/** A client's call leaves; `operation` is e.g. `alice/1/write`. One per operation, not per try. */
export interface Invoke extends Deed<'invoke'> {
  readonly operation: string;
  readonly call: Call;
}

export type Call =
  | {
      /**
       * `check` is a store's question: is this the token of a lease that still runs? `fetch` is a
       * client's: which token is the current one?
       */
      readonly verb:
        | ('acquire' | 'renew' | 'release' | 'claim' | 'check' | 'fetch')
        /** What workers ask of the queue that brings them their steps. */
        | ('receive' | 'send' | 'delete');
      readonly lock: string;
      readonly token: number;
    }
  | {
      /** `fence` asks for the highest token and touches no value. */
      readonly verb: 'read' | 'write' | 'open' | 'fence';
      readonly store: string;
      readonly resource: string;
      readonly key: string;
      /** Null on a read. */
      readonly value: number | null;
      readonly token: number;
      /** What a write adds to the value that its section read (an increment); else null. */
      readonly adds: number | null;
      /** The first operation of those that carry out what this write is for; absent on itself. */
      readonly repeats?: string;
      /**
       * The last operation by which the guard of asynchronous code knew the key that it writes;
       * absent: it knew nothing of it, or a workload says what is written.
       */
      readonly base?: string;
      /** The version that a write expects, null: of a key never written; absent: any. */
      readonly version?: number | null;
    };

/** A client learns how its call ended. */
export interface Return extends Deed<'return'> {
  readonly operation: string;
  /**
   * `ok`: answered, `refused` and `denied` are answers too; `fail`: it was never executed; `info`:
   * no answer came, it may or may not have happened, now or later.
   */
  readonly outcome: 'ok' | 'fail' | 'info';
  readonly answer: Answer | null;
}

export type Answer =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'denied'; readonly holder: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'released' }
  /** A version is that of the key afterwards, null where it was never written. */
  | {
      readonly kind: 'accepted';
      readonly version?: number | null;
      /** It had been applied before, and nothing has changed. */
      readonly isRepeated?: true;
    }
  | { readonly kind: 'current' | 'outdated' }
  | {
      /** Compared with the highest token, or, where there is one, with the present version. */
      readonly kind: 'refused';
      readonly highest: number;
      readonly version?: number | null;
      /** The rule of the table that it would break, although its version is right. */
      readonly check?: string;
    }
  | { readonly kind: 'value'; readonly value: number; readonly version?: number | null };

/** A fault fires. `index` is its index in the plan, null when it was drawn by chance. */
export interface FaultInjected extends Happening<'fault'> {
  readonly fault: FaultKind;
  readonly index: number | null;
  /** Whom it affects: one process, the ends of a link or message, or both groups of a partition. */
  readonly processes: readonly string[];
  /** When its effect ends, null if it has no end or none known. */
  readonly untilUs: number | null;
  /** The message, timer or key that it affects, or '' . */
  readonly target: string;
  /** Microseconds (ppm for a clock rate) of the effect: how long, how late, how far. */
  readonly amount: number;
}

/** A pause, partition or crash is over: `resume`, `heal`, `restart`. */
export interface FaultEnds extends Happening<'resume' | 'heal' | 'restart'> {
  readonly index: number | null;
  readonly processes: readonly string[];
}

/** The world heals: from here on no fault is injected. */
export type Healed = Happening<'healed'>;

/** A program passes a point that it named itself, e.g. `alice/1/checked`. */
export interface Mark extends Deed<'mark'> {
  readonly point: string;
}

/** What a program does about a lock, under the grant that `ordinal` numbers. */
interface UnderGrant<Kind extends string> extends Deed<Kind> {
  readonly lock: string;
  readonly ordinal: number;
}

/** A grant reaches the program: it believes that it holds the lock, until `believedUntilUs`. */
export interface Enter extends UnderGrant<'enter'> {
  readonly section: string;
  readonly token: number;
  /** True time at which its own clock, as it now runs, shows what it takes for the lease's end. */
  readonly believedUntilUs: number;
}

/** The program stops believing: it calls release, gives up, or is told of an abort. */
export interface Leave extends UnderGrant<'leave'> {
  readonly section: string;
}

/**
 * A guarded job begins or ends: the body that a lock is to keep from running twice. Or it is
 * skipped: it was delivered, and must not run again.
 */
export interface Job extends UnderGrant<'job'> {
  readonly phase: 'begin' | 'end' | 'skip';
  readonly section: string;
  /** Which occurrence of the job it is: it should run once. */
  readonly tick: number;
}

/** The topic under which a service logs why it does what its lock's rules would not explain. */
export const WHY = 'why';

/** What a program or a server writes to its log. */
export interface Log extends Deed<'log'> {
  readonly topic: string;
  readonly text: string;
}

/** A lock service finds clients that wait for one another in a circle. */
export interface Deadlock extends Deed<'deadlock'> {
  /** `client` waits for `lock`, which the next one holds; for the last one, the first. */
  readonly waits: readonly { readonly client: string; readonly lock: string }[];
}

/** A queue delivers a message to a worker, and hides it from all others until `untilUs`. */
export interface Deliver extends Deed<'deliver'> {
  readonly client: string;
  /** The machine whose step it asks for, after so many retries. */
  readonly lock: string;
  readonly steps: number;
  readonly retries: number;
  /** How often this message was delivered, this time included. */
  readonly deliveries: number;
  /** The queue keeps this message twice, and this is the second one. */
  readonly isCopy: boolean;
  readonly untilUs: number;
}

/** A program tests its lease by its own clock. Also emitted, as `isLive`, at a confirmed renew. */
export interface LeaseTest extends UnderGrant<'lease-test'> {
  readonly isLive: boolean;
  readonly believedUntilUs: number;
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
