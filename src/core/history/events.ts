/**
 * The events of a trace. Each has the time at which it happened, `atUs`: true (global virtual) time
 * in integer microseconds. Grants are numbered in the order in which they were given; this ordinal,
 * from 1, is also on everything that is done under a grant, and 0 stands for "under none".
 */
import type { Json } from '../kernel/json.ts';
import type { FaultKind } from '../plan/fault.ts';
import type { Answer, Call } from './call.ts';

/**
 * One event of a trace.
 *
 * Messages (named `alice/1/write/1/request`): `send`, `receive`, `lose`. Calls of clients (named
 * `alice/1/write`): `invoke`, one per call and not per attempt, and `return`. Faults: `fault` when
 * one is injected, `resume`, `heal` or `restart` when it ends, and `healed`, after which none is
 * injected. Programs: `mark`, `enter`, `leave`, `lease-test`, `job`, `log`. Lock services: `grant`,
 * `deny`, `renew`, `release`, `grant-end`, `deadlock`, `key-change`; a queue: `deliver`. Stores:
 * `write`, `read`, `recovered`.
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
      /** A message is handled by its receiver, after any pause of it. */
      readonly kind: 'receive';
      readonly atUs: number;
      readonly from: string;
      readonly to: string;
      readonly message: string;
      /** The message's second execution, under a `duplicate` fault. */
      readonly isCopy: boolean;
    }
  | {
      /** A message will never be handled, or is discarded. */
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
      /** A client learns how its call ended. */
      readonly kind: 'return';
      readonly atUs: number;
      readonly process: string;
      readonly operation: string;
      /**
       * `ok`: answered, also with `refused` or `denied`; `fail`: never executed; `info`: no answer
       * came, and it may or may not have happened, now or later.
       */
      readonly outcome: 'ok' | 'fail' | 'info';
      readonly answer: Answer | null;
    }
  | {
      /** A fault fires. */
      readonly kind: 'fault';
      readonly atUs: number;
      readonly fault: FaultKind;
      /** Its index in the plan's faults; null if it was drawn by chance. */
      readonly index: number | null;
      /** Those it affects: one, the ends of a link or message, or both groups of a partition. */
      readonly processes: readonly string[];
      /** When its effect ends; null if it has no end or none known. */
      readonly untilUs: number | null;
      /** The message, timer or key that it affects, or ''. */
      readonly target: string;
      /** Its size in microseconds (ppm for a clock rate): how long, how late, how far. */
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
      /** No fault is injected from here on. */
      readonly kind: 'healed';
      readonly atUs: number;
    }
  | {
      /** A program passes a point that it named itself, e.g. `alice/1/checked`. */
      readonly kind: 'mark';
      readonly atUs: number;
      readonly process: string;
      readonly point: string;
    }
  | {
      /** A grant reaches the program, which believes from now on that it holds the lock. */
      readonly kind: 'enter';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly ordinal: number;
      readonly section: string;
      readonly token: number;
      /** True time at which its own clock, as it now runs, shows the end of the lease. */
      readonly believedUntilUs: number;
    }
  | {
      /** The program stops believing: it calls release, gives up, or is told of an abort. */
      readonly kind: 'leave';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly ordinal: number;
      readonly section: string;
    }
  | {
      /** A program tests its lease by its own clock; recorded, as live, at each renewal too. */
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
       * A guarded job, the body that a lock is to keep from running twice, begins, ends, or is
       * skipped: it was delivered, and must not run again.
       */
      readonly kind: 'job';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly ordinal: number;
      readonly phase: 'begin' | 'end' | 'skip';
      readonly section: string;
      /** Which occurrence of the job it is; each should run once. */
      readonly tick: number;
    }
  | {
      /** A program or a server writes a line to its log. */
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
      /** When the request that it answers was sent. */
      readonly sentAtUs: number;
      /** True time at which the service's clock, as it now runs, ends the lease; null: never. */
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
      /** The grant because of which it denies. */
      readonly holderOrdinal: number;
      /** It does not send the client away: the answer comes when the lock is free. */
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
      /** The grant that the caller meant. */
      readonly under: number;
      /** The grant that it extended; 0 if it was denied. */
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
      /** The grant that the caller meant. */
      readonly under: number;
      /** The grant that it ended; 0 if it was denied. */
      readonly released: number;
    }
  | {
      /** A server ends a grant of its own accord, e.g. with the session on which it depends. */
      readonly kind: 'grant-end';
      readonly atUs: number;
      readonly process: string;
      readonly lock: string;
      readonly client: string;
      readonly ordinal: number;
      /** A clause: `its session was over`. */
      readonly why: string;
    }
  | {
      /** A lock service finds clients that wait for one another in a circle. */
      readonly kind: 'deadlock';
      readonly atUs: number;
      readonly process: string;
      /** `client` waits for `lock`, which the next one holds; for the last one, the first. */
      readonly waits: readonly { readonly client: string; readonly lock: string }[];
    }
  | {
      /** A queue delivers a message to a worker, and hides it from all others until `untilUs`. */
      readonly kind: 'deliver';
      readonly atUs: number;
      readonly process: string;
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
  | {
      /** A store handles a write, or an `open`, which changes no value and has `value: null`. */
      readonly kind: 'write';
      readonly atUs: number;
      readonly process: string;
      /** The store that its process is a replica of; absent where it is a store by itself. */
      readonly store?: string;
      readonly resource: string;
      readonly key: string;
      /** The token that it carries. */
      readonly token: number;
      /** The grant under which its client issued it. */
      readonly under: number;
      readonly client: string;
      readonly operation: string;
      /** The operation's place in the order in which its section issued its operations, from 1. */
      readonly issue: number;
      readonly isAccepted: boolean;
      readonly message: string;
      readonly value: number | null;
      /** The store's highest token before this write, for comparison; 0 when it keeps none. */
      readonly highest: number;
      readonly adds: number | null;
      /**
       * The timestamp by which the last write wins at a replica, compared place by place: a token
       * or 0, then a clock in microseconds since the start or a count, then the name of the write.
       */
      readonly stamp?: readonly [high: number, low: number, write: string];
      /** Absent where the store has no versions. */
      readonly version?: {
        /** Versions are a count of changes, or the time of the last change in ms. */
        readonly by: 'version' | 'timestamp';
        /** What a right clock showed as the run began, of timestamps; absent: 0. */
        readonly epochMs?: number;
        /** The version that the key had before the access; null: it was never written. */
        readonly found: number | null;
        /** The version that the write expects, null: of a key never written; absent: any. */
        readonly expected?: number | null;
        /** The version that the key has afterwards. */
        readonly given: number | null;
      };
      /**
       * Why it was refused; absent where it is accepted, and where its token is below `highest`.
       * `lower`: a higher token was seen; `equal`: that token was accepted before; `order`: this
       * place in its grant's order, or a later one (`last`), was; `higher`: the token is above the
       * registered one (`highest`); `other`: it is not the registered one; `stamp`: what is there
       * (`found`) is later, so that a replica ignores the write and its client is not told;
       * `lease`: the lock service did not confirm that its lease runs; `version`: the row has
       * another; `check`: a rule of the table forbids the value.
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
      /** A store handles a read. A refused one serves nothing: `value` is null. */
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
      /** Where it was taken from one of several replicas, by which write; '' for none. */
      readonly written?: string;
      /** Absent where the store has no versions. */
      readonly version?: {
        readonly by: 'version' | 'timestamp';
        readonly epochMs?: number;
        readonly found: number | null;
      };
      /** As of a write. */
      readonly refusal?: EventOf<'write'>['refusal'];
    }
  | {
      /** A store is back after a crash or failover, or forgot a key, with what it still holds. */
      readonly kind: 'recovered';
      readonly atUs: number;
      readonly process: string;
      readonly resource: string;
      readonly highest: number;
      readonly values: Readonly<Record<string, number>>;
      /** Not after a fault: a key that is asked for first, and had such a version before. */
      readonly begins?: { readonly key: string; readonly version: number };
    }
  | {
      /**
       * A server that keeps keys, as Redis does, handles a command on one that was taken as locks
       * are: by setting it where it did not exist. Not recorded for keys written in another way.
       */
      readonly kind: 'key-change';
      readonly atUs: number;
      readonly process: string;
      readonly key: string;
      readonly client: string;
      readonly message: string;
      /**
       * `lost`: by no client's command, but in a restart, a failover or an eviction. `untracked`:
       * it has no known holder from then on, since another client added to it, as to a lock of
       * readers, or since it has no end and its client or a script of another changed its value,
       * which may say that the lock is free.
       */
      readonly change: 'taken' | 'prolonged' | 'removed' | 'overwritten' | 'lost' | 'untracked';
      /** The server was told that such a key is a lock. */
      readonly isNamed: boolean;
      /**
       * False: the client asked for it, and the key stayed as it was. Repeated requests for a key
       * that another client took are recorded once for each time that it is taken.
       */
      readonly isDone: boolean;
      /** Which client had taken the key, and by which message; '' where none had. */
      readonly holder: string;
      readonly taking: string;
      /** The message by which its own client took the key last, '' for none. */
      readonly meant: string;
      /** True time at which the server's clock, as it now runs, lets go of it; null: never. */
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

/** Why a store refused an access. */
export type Refusal = NonNullable<Write['refusal']>;
/** A timestamp by which the last write wins. */
export type Stamp = NonNullable<Write['stamp']>;
/** The versions that a store compared for a write, and for a read. */
export type WriteVersion = NonNullable<Write['version']>;
export type RowVersion = NonNullable<Read['version']>;
/** How to read the versions of a store. */
export type VersionScale = Pick<RowVersion, 'by' | 'epochMs'>;

/** The topic under which a service logs why it does what its lock's rules would not explain. */
export const WHY = 'why';

/** Whether the first is earlier than the second. */
export function isEarlier([high, low, write]: Stamp, [top, next, other]: Stamp): boolean {
  if (high !== top) return high < top;
  return low === next ? write < other : low < next;
}

/** `12 ms`, `−30000 ms`, whatever the time of day was. */
export function stampText({ epochMs = 0 }: VersionScale, stamp: number): string {
  const ms = stamp - epochMs;
  return `${ms < 0 ? '−' : ''}${Math.abs(ms)} ms`;
}
