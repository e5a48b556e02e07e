/** Defines the dialect of each model. `detectModel` chooses a model for a log. */
import type { Json } from '../../core/kernel/json.ts';
import type { Beginning } from '../models.ts';
import {
  ANY_KEY,
  type Answers,
  type Dialect,
  keyText,
  knownAnswer,
  type NamedFields,
  readSaid,
  type Said,
  scalarOf,
  words,
} from './dialect.ts';
import { ednText, isArray } from './edn.ts';
import type { Fields, RecordedOperation } from './record.ts';

const READ = ['get', 'r'];
const WRITE = ['put', 'set', 'w'];
const CAS = ['compare-and-set', 'compare-and-swap', 'compareAndSet'];

const CAS_ANSWERS: Answers = {
  yes: ['matched', 'swapped'],
  no: ['missed', 'denied', 'refused', 'mismatch', 'mismatched'],
  mayBeValue: true,
};

const FENCE: Answers = { yes: ['accepted'], no: ['refused', 'denied', 'rejected'] };

const anyRegister = {
  words: words({ read: READ, write: WRITE }),
  keys: ANY_KEY,
  begin: (initial: Json | undefined): Beginning => ({ value: scalarOf(initial ?? null) }),
};

/** Tokens are compared per resource, not per key. */
const anyFenced = {
  ...anyRegister,
  words: words({ read: READ, write: WRITE, open: [] }),
  keys: ['key'],
  answers: new Map(['read', 'write', 'open'].map((name) => [name, FENCE])),
  callOf: fencedOf,
};
const strictFenced: Dialect = { ...anyFenced, model: 'fenced-register-strict' };

const ACQUIRE = ['lock', 'tryLock', 'try-lock', 'tryAcquire', 'try-acquire'];
const RELEASE = ['unlock'];
const NO = ['denied', 'refused', 'rejected', 'busy'];

/** The first `yes` is the answer in the model's calls. */
const ANSWERS: ReadonlyMap<string, Answers> = new Map([
  ['acquire', { yes: ['granted', 'acquired', 'locked'], no: NO, mayBeValue: true }],
  ['renew', { yes: ['renewed', 'extended'], no: NO, mayBeValue: true }],
  ['release', { yes: ['released', 'unlocked'], no: NO, mayBeValue: true }],
]);

const anyLock = {
  words: words({ acquire: ACQUIRE, release: RELEASE }),
  keys: ANY_KEY,
  answers: ANSWERS,
  isNamedByValue: true,
  begin: (initial: Json | undefined): Beginning | string =>
    initial === undefined ? {} : 'it always begins free',
};

const ALL: readonly Dialect[] = [
  { ...anyRegister, model: 'register', mayHideNil: true, callOf: readOrWrite },
  {
    ...anyRegister,
    model: 'cas-register',
    mayHideNil: true,
    words: words({ read: READ, write: WRITE, cas: CAS }),
    answers: new Map([['cas', CAS_ANSWERS]]),
    callOf: readWriteOrCas,
  },
  {
    ...anyRegister,
    model: 'versioned-register',
    answers: new Map([['write', FENCE]]),
    callOf: versionedOf,
  },
  { ...anyFenced, model: 'fenced-register' },
  strictFenced,
  { ...anyFenced, model: 'fenced-register-with-reads' },
  {
    model: 'kv',
    words: words({
      get: ['read'],
      put: ['write', 'set'],
      append: [],
      cas: ['compare-and-set', 'compare-and-swap'],
      delete: ['remove'],
    }),
    keys: ANY_KEY,
    answers: new Map([['cas', CAS_ANSWERS]]),
    begin: (initial) => ({ text: initial === undefined ? '' : plainText(initial) }),
    callOf: keyValueOf,
  },
  {
    model: 'counter',
    words: words({ increment: ['add', 'inc', 'incr'], decrement: ['dec', 'decr'], read: ['get'] }),
    keys: ANY_KEY,
    begin: beginCounter,
    callOf: counterOf,
  },
  { ...anyLock, model: 'mutex', callOf: lockCallOf },
  { ...anyLock, model: 'anonymous-mutex', callOf: lockCallOf },
  { ...anyLock, model: 'reentrant-mutex', callOf: lockCallOf },
  { ...anyLock, model: 'fenced-mutex', callOf: tokenOf },
  { ...anyLock, model: 'reentrant-fenced-mutex', callOf: tokenOf },
  {
    ...anyLock,
    model: 'semaphore',
    // The value is a number of permits.
    isNamedByValue: false,
    begin: beginSemaphore,
    callOf: permitsOf,
  },
  {
    ...anyLock,
    model: 'lease',
    words: words({ acquire: ACQUIRE, renew: ['extend'], release: RELEASE, expire: [] }),
    callOf: leaseOf,
  },
];

/** Dialects by model name. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([
  ...ALL.map((dialect) => [dialect.model, dialect] as const),
]);

/** Weaker models first: the first that knows every word of a log is chosen. */
const CANDIDATES = 'register cas-register kv counter mutex lease fenced-register'.split(' ');

/** Returns the model that the first operations of a log suggest, or null if there is none. */
export function detectModel(operations: readonly RecordedOperation[]): string | null {
  const logWords = new Set(operations.map(({ f }) => f));
  const name = CANDIDATES.find((candidate) => {
    const known = dialects.get(candidate)?.words;
    return [...logWords].every((word) => known?.has(word) ?? false);
  });
  if (logWords.size === 0 || name === undefined) return null;
  const hasTokens = operations.some(({ asked, answered }) => {
    return asked['token'] !== undefined || answered['token'] !== undefined;
  });
  if (name === 'fenced-register' || (name === 'register' && hasTokens)) {
    return showsReadTokens(operations) ? 'fenced-register-with-reads' : 'fenced-register';
  }
  if (name === 'mutex' && hasTokens) return 'fenced-mutex';
  if (name !== 'register') return name;
  const hasVersions = operations.some(({ answered }) => answered['version'] !== undefined);
  if (hasVersions) return 'versioned-register';
  // Key-value maps have get and put; a register has read and write.
  return logWords.has('get') || logWords.has('put') ? 'kv' : 'register';
}

/**
 * Detects that reads register tokens: a read was refused, or only reads used tokens higher than
 * that of a refused write.
 */
function showsReadTokens(operations: readonly RecordedOperation[]): boolean {
  const calls = operations.flatMap((operation) => {
    const name = anyFenced.words.get(operation.f) ?? '';
    const read = readSaid(name, operation, strictFenced, { readsPairs: false });
    const token = operation.asked['token'] ?? operation.answered['token'];
    const resource = keyText(operation.asked['resource'] ?? '');
    return typeof read === 'string' || typeof token !== 'number'
      ? []
      : [{ isRead: name === 'read', isNo: read.isNo, token, resource }];
  });
  return calls.some(({ isRead, isNo, token, resource }) => {
    const above = calls.filter((other) => other.resource === resource && other.token > token);
    return isNo && (isRead || (above.length > 0 && above.every((other) => other.isRead)));
  });
}

function readOrWrite({ name, operation, key, asked, answered }: Said): NamedFields | string {
  if (name === 'read') {
    const value = operation.outcome === 'ok' ? answered : null;
    if (value === undefined) return 'expected the value that was read';
    return { name, key, value: scalarOf(value) };
  }
  if (asked === undefined) return 'expected the value to write';
  return { name, key, value: scalarOf(asked) };
}

function readWriteOrCas(exchange: Said): NamedFields | string {
  const { name, operation, key, asked, isNo } = exchange;
  if (name !== 'cas') return readOrWrite(exchange);
  const pair = isArray(asked) ? asked : namedPair(operation.asked);
  const [expected, value] = pair;
  if (pair.length !== 2 || expected === undefined || value === undefined) {
    return 'expected a pair as the value: [expected new]';
  }
  const answer = knownAnswer(exchange, isNo ? 'missed' : 'matched');
  return { name, key, expected: scalarOf(expected), value: scalarOf(value), answer };
}

/** Returns a pair from separate fields, such as `from` and `to`. Nil counts as a value. */
function namedPair(fields: Fields): readonly (Json | undefined)[] {
  const first = (...names: string[]): Json | undefined =>
    names.map((name) => fields[name]).find((value) => value !== undefined);
  return [first('from', 'expected', 'arg1'), first('to', 'new', 'arg2', 'value')];
}

function versionedOf(exchange: Said): NamedFields | string {
  const { name, operation } = exchange;
  const plain = readOrWrite(exchange);
  if (typeof plain === 'string') return plain;
  const version = operation.answered['version'];
  const hasVersion = Number.isSafeInteger(version);
  if (operation.outcome === 'ok' && !hasVersion && !exchange.isNo) {
    return 'expected a version, a whole number below 2^53';
  }
  const isUnseen = name === 'read' && operation.outcome !== 'ok';
  const seen = isUnseen ? { ...plain, value: 'unknown' } : plain;
  const call = { ...seen, version: typeof version === 'number' ? version : null };
  const expected = operation.asked['expected'] ?? null;
  if (name === 'read' || (expected === null && !exchange.isNo)) return call;
  if (typeof expected !== 'number' || !Number.isSafeInteger(expected)) {
    return 'expected a version in "expected", a whole number below 2^53';
  }
  return { ...call, expected, ...(exchange.isNo ? { answer: 'refused' } : {}) };
}

function fencedOf(exchange: Said): NamedFields | string {
  const { name, operation } = exchange;
  const { asked, answered } = operation;
  const token = asked['token'] ?? answered['token'];
  if (typeof token !== 'number' || !Number.isSafeInteger(token)) {
    return 'expected a token, a whole number below 2^53';
  }
  const resource = keyText(asked['resource'] ?? answered['resource'] ?? '');
  const answer = knownAnswer(exchange, exchange.isNo ? 'refused' : 'accepted');
  if (name === 'open') return { name, resource, token, answer };
  // A refused read has no value.
  const plain = readOrWrite(exchange.isNo ? { ...exchange, answered: null } : exchange);
  if (typeof plain === 'string') return plain;
  if (name === 'write') return { ...plain, resource, token, answer };
  if (operation.outcome === 'info') return { ...plain, resource, token, value: 'unknown' };
  return exchange.isNo
    ? { ...plain, resource, token, value: 'refused' }
    : { ...plain, resource, token };
}

/** Converts a value to text. Strings stay unquoted, because appends join them. */
function plainText(value: Json): string | null {
  return value === null || typeof value === 'string' ? value : ednText(value);
}

function keyValueOf(exchange: Said): NamedFields | string {
  const { name, operation, key, asked, answered } = exchange;
  switch (name) {
    case 'get': {
      const value = operation.outcome === 'ok' ? answered : null;
      return value === undefined
        ? 'expected the value that was read'
        : { name, key, value: plainText(value) };
    }
    case 'delete':
      return { name, key };
    case 'cas':
      return casOf(exchange);
    default:
      return asked === undefined || asked === null
        ? 'expected the value to write'
        : { name, key, value: plainText(asked) };
  }
}

function casOf(exchange: Said): NamedFields | string {
  const { key, asked, isNo } = exchange;
  const { from, to } = exchange.operation.asked;
  const [expected, value] = isArray(asked) && asked.length === 2 ? asked : [from, to];
  if (expected === undefined || value === undefined || value === null) {
    return 'expected a pair as the value: [expected new]';
  }
  const answer = knownAnswer(exchange, isNo ? 'missed' : 'matched');
  return { name: 'cas', key, expected: plainText(expected), value: plainText(value), answer };
}

function beginCounter(initial: Json | undefined): Beginning | string {
  const value = initial ?? 0;
  return typeof value === 'number' ? { value } : 'expected a number';
}

function counterOf({ name, operation, key, asked, answered }: Said): NamedFields | string {
  if (name === 'read') {
    if (operation.outcome !== 'ok') return { name, key, value: 'unknown' };
    return typeof answered === 'number'
      ? { name, key, value: answered }
      : 'expected a value: the number that was read';
  }
  const by = asked ?? 1;
  if (typeof by !== 'number') return 'expected the number to add';
  return { name: 'increment', key, by: name === 'decrement' ? -by : by };
}

function beginSemaphore(initial: Json | undefined): Beginning | string {
  const permits = initial ?? 1;
  const isCount = typeof permits === 'number' && Number.isSafeInteger(permits) && permits > 0;
  return isCount ? { permits } : 'expected a whole number of permits';
}

function lockCallOf(exchange: Said): NamedFields {
  return {
    name: exchange.name,
    lock: exchange.key,
    owner: ownerOf(exchange.operation),
    answer: heard(exchange),
  };
}

function tokenOf(exchange: Said): NamedFields | string {
  const call = lockCallOf(exchange);
  if (exchange.name !== 'acquire') return call;
  const { answered, outcome } = exchange.operation;
  const token = answered['token'] ?? answered['fence'] ?? exchange.answered ?? null;
  if (exchange.isNo || outcome !== 'ok') return { ...call, token: null };
  return typeof token === 'number' && Number.isSafeInteger(token)
    ? { ...call, token }
    : 'expected a token, a whole number below 2^53';
}

function permitsOf(exchange: Said): NamedFields | string {
  const permits = exchange.operation.asked['permits'] ?? exchange.asked ?? 1;
  if (typeof permits !== 'number' || !Number.isSafeInteger(permits) || permits < 1) {
    return 'expected permits, a whole number';
  }
  return { name: exchange.name, semaphore: exchange.key, permits, answer: heard(exchange) };
}

function leaseOf(exchange: Said): NamedFields {
  const { name, key: lease, operation } = exchange;
  if (name === 'expire') return { name, lease };
  return { name, lease, owner: ownerOf(operation), answer: heard(exchange) };
}

function ownerOf({ asked, process }: RecordedOperation): string {
  const owner = asked['owner'] ?? null;
  return owner === null ? process : keyText(owner);
}

function heard(exchange: Said): string {
  return knownAnswer(
    exchange,
    exchange.isNo ? 'denied' : (ANSWERS.get(exchange.name)?.yes[0] ?? ''),
  );
}
