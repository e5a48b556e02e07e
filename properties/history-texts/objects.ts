/**
 * Defines the objects of recorded histories independently of the models in `src`: every outcome
 * that a call may truthfully have in a state. A checker that tries every order needs no more.
 */

/** A value in a record; texts that begin with a colon are words, as keywords of EDN. */
export type Value = number | string | boolean | null | readonly Value[];

export type Values = { readonly [field: string]: Value };

export interface Asked {
  readonly verb: string;
  readonly owner: string;
  readonly args: Values;
}

/** The answer to the caller, and the next state. */
export interface Outcome {
  readonly heard: Values;
  readonly next: Value;
}

export interface ObjectKind {
  /** Returns the first state. `initial` is undefined if the object's content is not given. */
  readonly begin: (initial: Value | undefined) => Value;
  readonly outcomes: (state: Value, asked: Asked) => readonly Outcome[];
}

type Outcomes = ObjectKind['outcomes'];

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

const same = (one: Value, other: Value): boolean => JSON.stringify(one) === JSON.stringify(other);
const arg = ({ args }: Asked, name: string): Value => args[name] ?? null;
const number = (value: Value | undefined): number => (typeof value === 'number' ? value : 0);
const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '');
const part = (state: Value, at: number): Value => (isList(state) ? (state[at] ?? null) : null);

const held = (initial: Value | undefined): Value => initial ?? null;

/** Reads return the state, writes replace it. */
const readsAndWrites: Outcomes = (state, asked) => {
  if (asked.verb === 'read') return [{ heard: { value: state }, next: state }];
  if (asked.verb === 'write') return [{ heard: {}, next: arg(asked, 'value') }];
  const matches = same(state, arg(asked, 'expected'));
  const next = matches ? arg(asked, 'value') : state;
  return [{ heard: { answer: matches ? 'matched' : 'missed' }, next }];
};

/** The state is the text, or null if the key holds nothing and reads as null. */
function keyValue(initial: Value | undefined): ObjectKind {
  const nothing = initial === null ? null : '';
  // How the map reads an empty key is unknown.
  const isEither = initial !== undefined && initial !== null && initial !== '';
  const alike = (state: Value): readonly Value[] =>
    isEither && (state === null || state === '') ? [null, ''] : [state];
  return {
    begin: () => (initial === undefined ? '' : initial),
    outcomes(state, asked) {
      const value = arg(asked, 'value');
      switch (asked.verb) {
        case 'get':
          return alike(state).map((seen) => ({ heard: { value: seen }, next: state }));
        case 'put':
          return [{ heard: {}, next: value }];
        case 'append':
          return [{ heard: {}, next: `${text(state)}${text(value)}` }];
        case 'delete':
          return [{ heard: {}, next: nothing }];
        default: {
          const matches = alike(state).includes(arg(asked, 'expected'));
          const next = matches ? value : state;
          return [{ heard: { answer: matches ? 'matched' : 'missed' }, next }];
        }
      }
    },
  };
}

const counts: Outcomes = (state, { verb, args }) => {
  if (verb === 'read') return [{ heard: { value: state }, next: state }];
  const by = number(args['value'] ?? 1);
  return [{ heard: {}, next: number(state) + (verb === 'decrement' ? -by : by) }];
};

const denied = (next: Value): readonly Outcome[] => [{ heard: { answer: 'denied' }, next }];

/**
 * The state is the owner, or null if the lock is free. If `isAnybody`, any client may release it.
 */
function locks(isAnybody: boolean): Outcomes {
  return (state, { verb, owner }) => {
    if (verb === 'acquire') {
      return state === null ? [{ heard: { answer: 'granted' }, next: owner }] : denied(state);
    }
    const mayRelease = state !== null && (isAnybody || state === owner);
    return mayRelease ? [{ heard: { answer: 'released' }, next: null }] : denied(state);
  };
}

/** The state is the owner and the number of its acquisitions, or null if the lock is free. */
const reenters: Outcomes = (state, { verb, owner }) => {
  const [holder, depth] = [part(state, 0), number(part(state, 1))];
  const isOwner = holder === owner;
  if (verb === 'acquire') {
    if (state !== null && !isOwner) return denied(state);
    return [{ heard: { answer: 'granted' }, next: [owner, depth + 1] }];
  }
  if (!isOwner) return denied(state);
  return [{ heard: { answer: 'released' }, next: depth === 1 ? null : [owner, depth - 1] }];
};

/** All tokens of drawn histories, and some on both sides for grants without an answer. */
const TOKENS = Array.from({ length: 30 }, (_, at) => at - 12);

/** The state is the owner, its depth and the last token, each null at first. */
function grantsTokens(mayReenter: boolean): Outcomes {
  return (state, { verb, owner }) => {
    const [holder, depth, last] = [part(state, 0), number(part(state, 1)), part(state, 2)];
    if (verb === 'release') {
      if (holder !== owner) return denied(state);
      const next = depth === 1 ? [null, 0, last] : [owner, depth - 1, last];
      return [{ heard: { answer: 'released' }, next }];
    }
    if (holder === owner && mayReenter) {
      return [{ heard: { answer: 'granted', token: last }, next: [owner, depth + 1, last] }];
    }
    if (holder !== null) return denied(state);
    return TOKENS.filter((token) => last === null || token > number(last)).map((token) => {
      return { heard: { answer: 'granted', token }, next: [owner, 1, token] };
    });
  };
}

/** The state is the number of free `permits`. */
function lends(permits: number): Outcomes {
  return (state, { verb, args }) => {
    const count = number(args['permits'] ?? 1);
    const next = number(state) + (verb === 'acquire' ? -count : count);
    if (next < 0 || next > permits) return denied(state);
    return [{ heard: { answer: verb === 'acquire' ? 'granted' : 'released' }, next }];
  };
}

/** The state is the latest owner, or null if its lease is known to have ended. */
const leases: Outcomes = (state, { verb, owner }) => {
  if (verb === 'expire') return [{ heard: {}, next: null }];
  if (verb === 'acquire') {
    const granted = { heard: { answer: 'granted' }, next: owner };
    return state === null ? [granted] : [granted, ...denied(state)];
  }
  if (state !== owner) return denied(state);
  const answer = verb === 'renew' ? 'renewed' : 'released';
  // A refusal means that the lease had expired.
  return [{ heard: { answer }, next: verb === 'renew' ? state : null }, ...denied(null)];
};

/** The state is a value and its version. */
const versions: Outcomes = (state, asked) => {
  const version = number(part(state, 1));
  if (asked.verb === 'read') return [{ heard: { value: part(state, 0), version }, next: state }];
  const expected = arg(asked, 'expected');
  if (expected !== null && expected !== version) {
    return [{ heard: { answer: 'refused', version }, next: state }];
  }
  const next = [arg(asked, 'value'), version + 1];
  return [{ heard: { answer: 'accepted', version: version + 1 }, next }];
};

/** The state is the highest token and the values of the written keys. */
function fences(kind: 'plain' | 'strict' | 'reads', initial: Value | undefined): ObjectKind {
  const refused = (next: Value): readonly Outcome[] => [{ heard: { answer: 'refused' }, next }];
  return {
    begin: () => [0, []],
    outcomes(state, asked) {
      const [highest, pairs] = [number(part(state, 0)), part(state, 1)];
      const written = isList(pairs) ? pairs : [];
      const [key, token] = [arg(asked, 'key'), number(arg(asked, 'token'))];
      const passes = kind === 'strict' ? token > highest : token >= highest;
      const others = written.filter((pair) => part(pair, 0) !== key);
      switch (asked.verb) {
        case 'read': {
          const entry = written.find((pair) => part(pair, 0) === key);
          const value = entry === undefined ? held(initial) : part(entry, 1);
          if (kind !== 'reads') return [{ heard: { value }, next: state }];
          return passes ? [{ heard: { value }, next: [token, pairs] }] : refused(state);
        }
        case 'open':
          if (!passes) return refused(state);
          return [{ heard: { answer: 'accepted' }, next: [token, pairs] }];
        default: {
          if (!passes) return refused(state);
          const sorted = [...others, [key, arg(asked, 'value')]].sort((one, other) =>
            text(part(one, 0)) < text(part(other, 0)) ? -1 : 1,
          );
          return [{ heard: { answer: 'accepted' }, next: [token, sorted] }];
        }
      }
    },
  };
}

const free =
  (outcomes: Outcomes): (() => ObjectKind) =>
  () => ({ begin: () => null, outcomes });

const KINDS: ReadonlyMap<string, (initial: Value | undefined) => ObjectKind> = new Map([
  ['register', () => ({ begin: held, outcomes: readsAndWrites })],
  ['cas-register', () => ({ begin: held, outcomes: readsAndWrites })],
  ['versioned-register', () => ({ begin: (it) => [held(it), 0], outcomes: versions })],
  ['kv', keyValue],
  ['counter', () => ({ begin: (it) => it ?? 0, outcomes: counts })],
  ['mutex', free(locks(false))],
  ['anonymous-mutex', free(locks(true))],
  ['reentrant-mutex', free(reenters)],
  ['fenced-mutex', () => ({ begin: () => [null, 0, null], outcomes: grantsTokens(false) })],
  [
    'reentrant-fenced-mutex',
    () => ({ begin: () => [null, 0, null], outcomes: grantsTokens(true) }),
  ],
  ['semaphore', (initial) => ({ begin: (it) => it ?? 1, outcomes: lends(number(initial ?? 1)) })],
  ['lease', free(leases)],
  ['fenced-register', (initial) => fences('plain', initial)],
  ['fenced-register-strict', (initial) => fences('strict', initial)],
  ['fenced-register-with-reads', (initial) => fences('reads', initial)],
] satisfies [string, (initial: Value | undefined) => ObjectKind][]);

/** Returns the object of a model. `initial` is its first content, or undefined if not given. */
export function objectOf(model: string, initial: Value | undefined): ObjectKind {
  const make = KINDS.get(model);
  if (make === undefined) throw new Error(`no object of ${model}`);
  return make(initial);
}
