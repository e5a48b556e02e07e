/**
 * The events of a trace. `atUs` is the true (global virtual) time of the event, in integer
 * microseconds. Grants are numbered from 1 in the order in which they were given. The grant number
 * is recorded with everything done under the grant; 0 means no grant.
 */
import type { Json } from '../kernel/json.ts';
import type { FaultKind } from '../plan/fault.ts';
import type { Answer, Call } from './call.ts';

/**
 * One event of a trace:
 * - messages (`alice/1/write/1/request`): `send`, `receive`, `lose`;
 * - client calls (`alice/1/write`), one per call and not per attempt: `invoke`, `return`;
 * - faults: `fault`, the end of one (`resume`, `heal`, `restart`), and the end of all (`healed`);
 * - programs: `mark`, `enter`, `leave`, `lease-test`, `job`, `log`;
 * - lock services: `grant`, `deny`, `renew`, `release`, `grant-end`, `deadlock`, `key-change`;
 * - queues: `deliver`;
 * - stores: `write`, `read`, `recovered`.
 */
export type TraceEvent =
  | {
      /** A message is sent. */
      readonly kind: 'send';
      readonly atUs: number;
      readonly from: string;
      readonly to: string;
      readonly message: string;
      readonly body: Json;
    }
  | {
      /** A receiver handles a message, after any pause of the receiver. */
      readonly kind: 'receive';
      readonly atUs: number;
      readonly from: string;
      readonly to: string;
      readonly message: string;
      /** True for the second execution of a message, caused by a `duplicate` fault. */
      readonly isCopy: boolean;
    }
  | {
      /** A message is lost or discarded, and will never be handled. */
      readonly kind: 'lose';
      readonly atUs: number;
      readonly from: string;
      readonly to: string;
      readonly message: string;
      readonly cause: 'drop' | 'partition' | 'crash' | 'reset' | 'late';
    }
  | {
      /** A client makes a call. */
      readonly kind: 'invoke';
      readonly atUs: number;
      readonly process: string;
      readonly operation: string;
      readonly call: Call;
    }
  | {
      /** A client learns the outcome of its call. */
      readonly kind: 'return';
      readonly atUs: number;
      readonly process: string;
      readonly operation: string;
      /**
       * `ok`: answered, including `refused` and `denied`; `fail`: never executed; `info`: no
       * answer, so the call may or may not be executed, now or later.
       */
      readonly outcome: 'ok' | 'fail' | 'info';
      readonly answer: Answer | null;
    }
  | {
      /** A fault is injected. */
      readonly kind: 'fault';
      readonly atUs: number;
      readonly fault: FaultKind;
      /** Index of the fault in the plan, or null if it was drawn by chance. */
      readonly index: number | null;
      /** Processes affected: one, both ends of a link or message, or both groups of a partition. */
      readonly processes: readonly string[];
      /** End of the effect, or null if it has no end or the end is unknown. */
      readonly untilUs: number | null;
      /** The affected message, timer or key, or ''. */
      readonly target: string;
      /** Size of the fault: a duration, delay or step in microseconds, or a clock rate in ppm. */
      readonly amount: number;
    }
  | {
      /** A pause (`resume`), partition (`heal`) or crash (`restart`) ends. */
      readonly kind: 'resume' | 'heal' | 'restart';
      readonly atUs: number;
      readonly index: number | null;
      readonly processes: readonly string[];
    }
  | {
      /** The world has healed: no fault is injected from here on. */
      readonly kind: 'healed';
      readonly atUs: number;
    }
  | {
      /** A program passes a point that it named itself, such as `alice/1/checked`. */
      readonly kind: 'mark';
      readonly atUs: number;
      readonly process: string;
      readonly point: string;
    }
  | {
      /** A grant reaches the program, which assumes from now on that it holds the lock. */
      readonly kind: 'enter';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly ordinal: number;
      readonly section: string;
      readonly token: number;
      /** True time at which the client's clock, at its current rate, shows the end of the lease. */
      readonly believedUntilUs: number;
    }
  | {
      /**
       * The program stops assuming that it holds the lock: it releases the lock, gives up, or
       * learns of an abort.
       */
      readonly kind: 'leave';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly ordinal: number;
      readonly section: string;
    }
  | {
      /**
       * A program checks its lease by its own clock. Renewals are recorded too, with `isLive` true.
       */
      readonly kind: 'lease-test';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly ordinal: number;
      readonly isLive: boolean;
      readonly believedUntilUs: number;
    }
  | {
      /**
       * A guarded job (code that must not run twice) begins, ends, or is skipped. A skipped job was
       * delivered again after it was done.
       */
      readonly kind: 'job';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly ordinal: number;
      readonly phase: 'begin' | 'end' | 'skip';
      readonly section: string;
      /** Number of the job's occurrence. Each occurrence should run once. */
      readonly tick: number;
    }
  | {
      /** A program or a server writes a log line. */
      readonly kind: 'log';
      readonly atUs: number;
      readonly process: string;
      readonly topic: string;
      readonly text: string;
    }
  | {
      /** The lock service gives a grant. */
      readonly kind: 'grant';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly client: string;
      readonly message: string;
      readonly token: number;
      readonly ttlUs: number;
      /** Send time of the request. */
      readonly sentAtUs: number;
      /** True time at which the service's clock, at its current rate, ends the lease, or null. */
      readonly untilUs: number | null;
      readonly ordinal: number;
    }
  | {
      /** The lock service denies an acquire. */
      readonly kind: 'deny';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly client: string;
      readonly message: string;
      readonly holder: string;
      /** Number of the grant that is the reason for the denial. */
      readonly holderOrdinal: number;
      /** True if the client is queued instead of refused: it is answered when the lock is free. */
      readonly waits?: true;
    }
  | {
      /** The lock service handles a renewal. */
      readonly kind: 'renew';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly client: string;
      readonly message: string;
      readonly token: number;
      readonly ttlUs: number;
      readonly sentAtUs: number;
      readonly untilUs: number | null;
      /** The grant that the client asked to extend. */
      readonly under: number;
      /** The grant that was extended, or 0 if the renewal was denied. */
      readonly extended: number;
    }
  | {
      /** The lock service handles a release. */
      readonly kind: 'release';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly client: string;
      readonly message: string;
      /** The grant that the client asked to release. */
      readonly under: number;
      /** The grant that was ended, or 0 if the release was denied. */
      readonly released: number;
    }
  | {
      /** A server ends a grant on its own, for example because the session behind it ended. */
      readonly kind: 'grant-end';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly client: string;
      readonly ordinal: number;
      /** A clause, such as `its session was over`. */
      readonly why: string;
    }
  | {
      /** A lock service detects a cycle of clients that wait for each other. */
      readonly kind: 'deadlock';
      readonly atUs: number;
      readonly process: string;
      /**
       * Each `client` waits for `lock`, which the next client holds; the last waits for the first.
       */
      readonly waits: readonly { readonly client: string; readonly lock: string }[];
    }
  | {
      /** A queue delivers a message to a worker, and hides it from others until `untilUs`. */
      readonly kind: 'deliver';
      readonly atUs: number;
      readonly process: string;
      readonly client: string;
      /**
       * The lock of the state machine to advance, its step, and the earlier retries of the step.
       */
      readonly lock: string;
      readonly steps: number;
      readonly retries: number;
      /** Deliveries of this message so far, including this one. */
      readonly deliveries: number;
      /** True for the second of two copies that the queue keeps of the message. */
      readonly isCopy: boolean;
      readonly untilUs: number;
    }
  | {
      /** A store handles a write, or an `open`, which changes no value and has `value: null`. */
      readonly kind: 'write';
      readonly atUs: number;
      readonly process: string;
      /**
       * The replicated store that this process belongs to; absent if the process is not a replica.
       */
      readonly store?: string;
      readonly resource: string;
      readonly key: string;
      /** Token of the request. */
      readonly token: number;
      /** The grant under which the client issued the write. */
      readonly under: number;
      readonly client: string;
      readonly operation: string;
      /** Position of the operation in its section, from 1, in order of issue. */
      readonly issue: number;
      readonly isAccepted: boolean;
      readonly message: string;
      readonly value: number | null;
      /** The store's highest token before this write, or 0 if the store keeps none. */
      readonly highest: number;
      readonly adds: number | null;
      /**
       * Last-write-wins timestamp at a replica, compared element by element. `high` is a token or
       * 0; `low` is a counter, or a clock in microseconds since the start.
       */
      readonly stamp?: readonly [high: number, low: number, write: string];
      /** Absent if the store has no versions. */
      readonly version?: {
        /** `version`: a count of changes. `timestamp`: the time of the last change in ms. */
        readonly by: 'version' | 'timestamp';
        /** For timestamps: the time of a correct clock at the start of the run. Absent: 0. */
        readonly epochMs?: number;
        /** Version before the access, or null if the key was never written. */
        readonly found: number | null;
        /** Expected version, or null if the key must never have been written. Absent: any. */
        readonly expected?: number | null;
        /** Version after the access. */
        readonly given: number | null;
      };
      /**
       * Why the write was refused; absent if it was accepted, or if its token is below `highest`.
       * `lower`: a higher token was seen. `equal`: the token was accepted before. `order`: a write
       * at the same or a later position (`last`) in its grant's order was accepted. `higher`: the
       * token is above the registered one (`highest`). `other`: the token is not the registered
       * one. `stamp`: the stored timestamp (`found`) is later, so the replica ignores the write
       * without notifying its client. `lease`: the lock service did not confirm that the lease is
       * running. `version`: the row has another version. `check`: a table rule forbids the value.
       */
      readonly refusal?:
        | { readonly kind: 'equal' | 'higher' | 'other' | 'lease' | 'version' }
        | { readonly kind: 'lower'; readonly highest: number }
        | { readonly kind: 'order'; readonly last: number }
        | {
            readonly kind: 'stamp';
            readonly found: readonly [high: number, low: number, write: string];
          }
        | { readonly kind: 'check'; readonly rule: string };
    }
  | {
      /** A store handles a read. A refused read returns nothing: its `value` is null. */
      readonly kind: 'read';
      readonly atUs: number;
      readonly process: string;
      readonly store?: string;
      readonly resource: string;
      readonly key: string;
      readonly token: number;
      readonly under: number;
      readonly client: string;
      readonly operation: string;
      readonly issue: number;
      readonly isAccepted: boolean;
      readonly message: string;
      readonly value: number | null;
      /**
       * For a read from one of several replicas: the write that stored the value, or '' if there is
       * none.
       */
      readonly written?: string;
      /** Absent if the store has no versions. */
      readonly version?: {
        readonly by: 'version' | 'timestamp';
        readonly epochMs?: number;
        readonly found: number | null;
      };
      /** As for a write. */
      readonly refusal?: EventOf<'write'>['refusal'];
    }
  | {
      /** A store restarts, fails over or forgets a key, and reports its remaining data. */
      readonly kind: 'recovered';
      readonly atUs: number;
      readonly process: string;
      readonly resource: string;
      readonly highest: number;
      readonly values: Readonly<Record<string, number>>;
      /**
       * The version that a key has at its first access. If present, no fault caused this event.
       */
      readonly begins?: { readonly key: string; readonly version: number };
    }
  | {
      /**
       * A key-value server such as Redis handles a command on a key that was taken like a lock: set
       * only if it did not exist. Not recorded for keys that are written in another way.
       */
      readonly kind: 'key-change';
      readonly atUs: number;
      readonly process: string;
      readonly key: string;
      readonly client: string;
      readonly message: string;
      /**
       * `lost`: removed by a restart, a failover or an eviction instead of a command. `untracked`:
       * from now on the holder is unknown, for example because another client joined a readers'
       * lock.
       */
      readonly change: 'taken' | 'prolonged' | 'removed' | 'overwritten' | 'lost' | 'untracked';
      /** True if the server was configured to treat the key as a lock. */
      readonly isNamed: boolean;
      /**
       * False if the requested change was not made. Repeated requests are recorded only once while
       * another client has the key.
       */
      readonly isDone: boolean;
      /** The client that took the key, and its message; both '' if there is no such client. */
      readonly holder: string;
      readonly taking: string;
      /** The message by which the requesting client last took the key, or ''. */
      readonly meant: string;
      /** True time at which the server's clock, at its current rate, expires the key, or null. */
      readonly untilUs: number | null;
    };

/** The kinds of events. */
export type EventKind = TraceEvent['kind'];

/** The event of a kind: `EventOf<'grant'>`. */
export type EventOf<Kind extends EventKind> = Extract<TraceEvent, { readonly kind: Kind }>;

export type Send = EventOf<'send'>;
export type Receive = EventOf<'receive'>;
export type Lose = EventOf<'lose'>;
export type Invoke = EventOf<'invoke'>;
export type Return = EventOf<'return'>;
export type FaultInjected = EventOf<'fault'>;
export type FaultEnds = EventOf<'resume' | 'heal' | 'restart'>;
export type Mark = EventOf<'mark'>;
export type Enter = EventOf<'enter'>;
export type Leave = EventOf<'leave'>;
export type LeaseTest = EventOf<'lease-test'>;
export type Job = EventOf<'job'>;
export type Log = EventOf<'log'>;
export type Grant = EventOf<'grant'>;
export type Deny = EventOf<'deny'>;
export type Renew = EventOf<'renew'>;
export type Release = EventOf<'release'>;
export type Deadlock = EventOf<'deadlock'>;
export type Deliver = EventOf<'deliver'>;
export type Write = EventOf<'write'>;
export type Read = EventOf<'read'>;
export type Recovered = EventOf<'recovered'>;
export type KeyChange = EventOf<'key-change'>;

/** The reason why a store refused an access. */
export type Refusal = NonNullable<Write['refusal']>;
/** A last-write-wins timestamp. */
export type Stamp = NonNullable<Write['stamp']>;
/** The versions that a store compared for a write, and for a read. */
export type WriteVersion = NonNullable<Write['version']>;
export type RowVersion = NonNullable<Read['version']>;
/** The scale of a store's versions. */
export type VersionScale = Pick<RowVersion, 'by' | 'epochMs'>;

/** Topic of log lines with reasons that do not follow from the rules of a lock. */
export const WHY = 'why';

/** Returns true if the first timestamp is earlier than the second. */
export function isEarlier([high, low, write]: Stamp, [top, next, other]: Stamp): boolean {
  if (high !== top) return high < top;
  return low === next ? write < other : low < next;
}

/** Formats a timestamp relative to the start of the run: `12 ms`, `−30000 ms`. */
export function stampText({ epochMs = 0 }: VersionScale, stamp: number): string {
  const ms = stamp - epochMs;
  return `${ms < 0 ? '−' : ''}${Math.abs(ms)} ms`;
}
