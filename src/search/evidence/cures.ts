/**
 * Lists possible cures by the rule that broke: another store, a lock option or a client setting of
 * a built-in system. `evidence.ts` applies them to the plan that broke the claim, and reports the
 * first with which the claim holds. For user code, there are no rows; a twin in the scenario shows
 * the cure.
 *
 * The smallest change comes first: an option of the current lock, then a client setting, then
 * another store.
 */
import type { Catalogue } from '../../catalogue.ts';
import { builtIn } from '../../catalogue.ts';
import type { RuleName } from '../../check/claim.ts';
import type { Json } from '../../core/kernel/json.ts';
import type { ClientSettings } from '../../core/plan/client-text.ts';
import type { Plan } from '../../core/plan/plan.ts';

/** A plan with one change, and the text to report if the claim holds. */
export interface Candidate {
  readonly plan: Plan;
  /** For example, `store: fenced`. */
  readonly change: string;
  readonly text: string;
  /** True if the text claims a refusal or denial. The run must then contain one. */
  readonly saysRefused: boolean;
}

interface Row {
  /** Another built-in store. With `insteadOf`, only if the plan has one of those stores. */
  readonly store?: string;
  readonly insteadOf?: readonly string[];
  /** Replaces lock `from` with lock `to`. Applies only to plans that use `from`. */
  readonly lock?: readonly [from: string, to: string];
  readonly options?: Readonly<Record<string, Json>>;
  readonly clients?: Partial<ClientSettings>;
  /** The change as written in a scenario. */
  readonly change: string;
  /** A sentence without its final period. */
  readonly text: string;
}

/** Returns the candidates that fit the plan, for a breach of the rule. */
export function curesFor(plan: Plan, rule: string, catalogue: Catalogue): readonly Candidate[] {
  const known = new Map<string, readonly Row[] | null>(Object.entries(CURES)).get(rule);
  // The rules of user-defined claims have no rows.
  return (known ?? []).flatMap((row) => {
    const cured = changed(plan, row, catalogue);
    if (cured === null) return [];
    const { change, text } = row;
    return [{ plan: cured, change, text, saysRefused: /refused|denied/.test(text) }];
  });
}

/** Applies a row to a plan. Returns null if the row changes nothing or does not fit the system. */
function changed(plan: Plan, row: Row, catalogue: Catalogue): Plan | null {
  const { system, clients } = plan;
  const { store = system.store, options = {} } = row;
  if (row.lock !== undefined && row.lock[0] !== system.lock) return null;
  const lock = row.lock?.[1] ?? system.lock;
  if (row.store !== undefined && !builtIn.stores.has(system.store)) return null;
  if (row.insteadOf?.includes(system.store) === false) return null;
  const known = builtIn.locks.get(lock)?.options ?? [];
  for (const name of Object.keys(options)) {
    const option = known.find((candidate) => candidate.name === name);
    if (option === undefined) return null;
    if ((system.options[name] ?? option.fallback) === options[name]) return null;
  }
  const isTheirs = row.clients !== undefined && !builtIn.locks.has(system.lock);
  if (isTheirs || !catalogue.locks.has(lock)) return null;
  const cured: Plan = {
    ...plan,
    system: { ...system, lock, store, options: { ...system.options, ...options } },
    clients: clients.map((client) => ({ ...client, ...row.clients })),
  };
  return JSON.stringify(cured) === JSON.stringify(plan) ? null : cured;
}

/** The text for each change, such as `counter: durable`. */
type Texts = Readonly<Record<string, string>>;

/**
 * Builds a row from each change. `store: …` replaces the store. `lock: …` replaces the published
 * version of the lock. Other changes set an option of the lock.
 */
function rows(texts: Texts): readonly Row[] {
  return Object.entries(texts).map(([change, text]): Row => {
    const [name = '', value = ''] = change.split(': ');
    if (name === 'store') return { store: value, change, text };
    if (name === 'lock') return { lock: [`${value}-published`, value], change, text };
    const number = Number(value);
    return { options: { [name]: Number.isNaN(number) ? value : number }, change, text };
  });
}

const COMPARES: Texts = {
  'store: fenced':
    'A store that refuses tokens below the highest it has seen would have refused it',
};

const READS_REGISTER: Texts = {
  'store: fenced-reads': 'A store whose reads register their token would have refused it',
};

const KEEPS_ORDER: Texts = {
  'store: fenced-sequenced':
    'A store that also compares the sequence numbers of writes within a grant would have refused it',
};

const STALE: Texts = {
  'attaches: own': 'A client that sends the token of its own grant would have been refused',
  ...COMPARES,
  ...READS_REGISTER,
};

/** Stores that compare a counter, each with the stores that it replaces. */
const VERSIONED: readonly (readonly [store: string, insteadOf: readonly string[]])[] = [
  ['versioned', ['unfenced', 'timestamped', 'timestamped-by-client']],
  ['versioned-sql', ['timestamped-sql']],
];

const VERSIONS: readonly Row[] = VERSIONED.map(([store, insteadOf]) => ({
  store,
  insteadOf,
  change: `store: ${store}`,
  text: 'A store that compares a version number, incremented by every change, would have refused it',
}));

const NAMED: Texts = {
  'release: named': 'A release that names its acquisition would have changed nothing',
  'release: compare-and-delete': 'A release that names its acquisition would have changed nothing',
};

const NAMED_RENEWAL: Texts = {
  'renew: compare': 'A renew that names its acquisition would have changed nothing',
  'extends: owner': 'A renew that names its acquisition would have changed nothing',
};

const DISTINGUISHES_BUSY =
  'A client that distinguishes a held lock from a system error would have waited';

/** Changes that prevent a lock from being granted while another client holds it. */
const HELD: Texts = {
  'clock: monotonic': 'A lock service that counts by a monotonic clock would have waited',
  'expiry: monotonic': 'A node that counts by a monotonic clock would have kept the key',
  'clock: server':
    'If the server’s clock judged the lease, not the caller’s, the client would have waited',
  'onDenied: waits': DISTINGUISHES_BUSY,
  'standby: no': 'A single server, which knows every lease that it granted, would have denied it',
  'vacant: add': 'A first lease stored only if none exists would have been denied',
  'timeout: recorded': 'If the lease lasted as long as recorded, the client would have waited',
  'validity: checked':
    'A client that checks the validity (the ttl minus the time of the requests) would not have entered',
  'restart: delayed':
    'A node that stays down for a ttl after it lost its keys would not have granted it again',
  'persistence: always': 'A node whose keys survive a crash would have denied it',
  'quorum: majority': 'Two clients cannot both hold a majority of the nodes',
  'drift: counted': 'With a margin for drift, the first client would have stopped in time',
  'elapsed: monotonic': 'A client that counts by a monotonic clock would have stopped in time',
  'seconds: whole': 'If the lease were rounded up to whole seconds, the client would have waited',
  'lock: lock-service':
    'A lock service that uses its own clock, and checks which grant a release names, would have denied it',
  'lock: lease-dynamodb': DISTINGUISHES_BUSY,
  'lock: lease-memcached': DISTINGUISHES_BUSY,
  'lock: lease-redis': DISTINGUISHES_BUSY,
};

const RISING: Texts = {
  'counter: durable': 'A counter that survives a crash would have issued a higher token',
  'tokens: exact': 'An exact counter would have issued a higher token',
  'takeover: raises': 'A counter raised at every grant would have issued a higher token',
  'absent: clock':
    'A counter that starts at the time of day if none is kept would have issued a higher token',
  'standby: no': 'A single server with a single counter would have issued a higher token',
  'vacant: add': 'A first lease stored only if none exists would have been denied',
};

const CONSERVATIVE: readonly Row[] = [
  {
    clients: { countsLeaseFrom: 'sent' },
    change: 'countsLeaseFrom: sent',
    text: 'A holder that counts from the moment it sent its request is never late',
  },
  {
    clients: { leaseEnds: 'at' },
    change: 'leaseEnds: at',
    text: 'A holder whose lease excludes its last instant would have stopped',
  },
  ...rows({
    'countsFrom: request': 'A holder that counts from the moment it sent its request is never late',
    'waits: in-line':
      'A client that checks its own entry at the head of the queue would not have entered',
    ...HELD,
  }),
];

const KEY_BEFORE: Texts = {
  'idempotency: step':
    'A worker that claims the key of a step before running the step would have skipped it',
};

const REFUSES_LOWER: Texts = {
  ...RISING,
  'store: fenced': 'A store that refuses only lower tokens would have accepted it',
};

/** Cures by rule. Null if no change of a built-in system cures the breach. */
const CURES: Readonly<Record<RuleName, readonly Row[] | null>> = {
  'stale-write': rows(STALE),
  'token-lower': rows(STALE),
  'write-after-read': rows({ ...READS_REGISTER, ...COMPARES }),
  'read-of-later': rows(READS_REGISTER),
  'issue-order': rows(KEEPS_ORDER),
  'applied-twice': rows(KEEPS_ORDER),
  'granted-while-live': rows({ ...NAMED, ...HELD }),
  'revived-lease': rows(NAMED_RENEWAL),
  'revived-while-live': rows(NAMED_RENEWAL),
  'both-believe': rows(HELD),
  'token-shared': rows(RISING),
  'token-not-higher': rows(RISING),
  'token-changed': rows({
    'renew: keeps': 'If a renew keeps the token, requests in transit stay valid',
  }),
  'token-foreign': rows({
    'attaches: own': 'A client that sends the token of its own grant can be refused',
  }),
  'fence-forgotten': rows({
    'store: fenced':
      'A store that keeps its highest token where it keeps its values would have known it',
  }),
  'foreign-release': rows({
    ...NAMED,
    'lock: lock-service': 'A release that names its acquisition would have changed nothing',
  }),
  'foreign-renewal': rows(NAMED_RENEWAL),
  'renewed-successor': rows(NAMED_RENEWAL),
  'undid-release': rows(NAMED_RENEWAL),
  'believes-longer': CONSERVATIVE,
  'live-past-end': CONSERVATIVE,
  'left-past-end': CONSERVATIVE,
  'live-at-end': CONSERVATIVE,
  'orphan-key-denies': null,
  'orphan-denies': rows({
    'unanswered: deleted': 'A client that withdraws an unanswered request leaves no orphan behind',
  }),
  'ran-again': rows(KEY_BEFORE),
  'ran-at-once': rows(KEY_BEFORE),
  'computed-at-once': rows({
    'timeout: -1':
      'A client that waits without a limit does not compute concurrently with the holder',
    'blocking: yes':
      'A client that waits for a busy lock does not compute concurrently with the holder',
  }),
  'probe-not-granted': rows({
    'serves: all': 'A lock service that serves all clients would have granted it',
    'partial: released': 'A failed attempt that releases its nodes leaves them free',
  }),
  'probe-refused': rows(REFUSES_LOWER),
  'holder-refused': rows(REFUSES_LOWER),
  deadlock: rows({
    'onDeadlock: abort':
      'A lock service that denies the request that closes the cycle breaks the deadlock',
  }),
  'update-lost': [...VERSIONS, ...rows({ ...READS_REGISTER, ...COMPARES })],
  'update-repeated': rows({
    'unknownCommit: read-again':
      'A write retried under the same key would have been recognized as the same write',
  }),
  'no-order': [...VERSIONS, ...rows({ ...COMPARES, ...READS_REGISTER })],
  'write-after-release': [
    {
      clients: { storeTimeoutUs: null },
      change: 'storeTimeout: never',
      text: 'A client that releases only after all its writes are answered leaves no late write',
    },
  ],
  'read-before-own-write': null,
  'read-of-own-later': null,
  'wrong-value': null,
  'loss-unnoticed': [
    {
      clients: { checksLease: true },
      change: 'checksLease: true',
      text: 'A client that watches the end of its lease by its own clock would have known',
    },
  ],
  'lost-in-recovery': null,
  'never-ended': null,
  'overwrote-key': null,
  'update-invented': null,
  'foreign-key-removal': null,
  'foreign-key-renewal': null,
  'renewed-foreign-key': null,
  'sum-read': null,
  'sum-at-end': null,
  'probe-granted-late': null,
  'probe-unheard': null,
  'probe-did-not-write': null,
};
