/**
 * Lists every argument of every public method of the classes that need no simulator: its allowed
 * values, and a call that passes it. A new method or argument needs a row here; the laws are in
 * `plain-classes-name-each-mistake.test.ts`.
 */
import { Cache, CacheLock, LeaseCache, LeaseTable, OptimisticTable } from '../src/index.ts';
import { LockClient, LockService, Store, stores } from '../src/servers.ts';

/** Allowed values of an argument. An optional argument may also be absent. */
export type Kind =
  | 'name'
  | 'time' // any safe integer
  | 'count' // a safe integer from 0
  | 'length' // a safe integer from 1
  | 'token' // any integer
  | 'timeout' // a `length`, or -1
  | 'value' // any finite number
  | 'word'
  | 'flag'
  | 'function'
  | 'object'
  | 'made' // an instance of a class
  | 'list'
  | 'json';

interface Subject {
  /** Returns all observable state. */
  readonly look: () => unknown;
  /** Calls the method; `given` holds the arguments under the names that the errors use. */
  readonly call: (given: Record<string, unknown>) => unknown;
}

export interface Row {
  readonly method: string;
  /** Creates a new subject for every call. */
  readonly make: () => Subject;
  /** Valid arguments. */
  readonly good: Readonly<Record<string, unknown>>;
  readonly kinds: Readonly<Record<string, `${Kind}${'' | '|null'}${'' | '?'}`>>;
}

/** A method as untyped code calls it. */
type Untyped = (...given: readonly unknown[]) => unknown;

function untyped(target: object, method: string): Untyped {
  const found: unknown = Reflect.get(target, method);
  if (typeof found !== 'function') throw new Error(`there is no method ${method}`);
  return (...given) => Reflect.apply(found, target, given);
}

/** A method that takes one object, or its arguments in `order`. */
function rowOf<T extends object>(
  method: `${string}.${string}`,
  make: () => { readonly target: T; readonly look: () => unknown },
  rest: Pick<Row, 'good' | 'kinds'> & { readonly order?: readonly string[] },
): Row {
  const { order, good, kinds } = rest;
  return {
    method,
    make: () => {
      const { target, look } = make();
      const apply = untyped(target, method.slice(method.indexOf('.') + 1));
      return {
        look,
        call: (given) =>
          order === undefined ? apply(given) : apply(...order.map((name) => given[name])),
      };
    },
    good,
    kinds,
  };
}

/** A constructor: there is no earlier state to preserve. */
function made(method: string, build: Subject['call'], rest: Pick<Row, 'good' | 'kinds'>): Row {
  return { method, make: () => ({ look: () => null, call: build }), ...rest };
}

function reconstruct(
  ofClass: new (...given: never[]) => object,
  ...given: readonly unknown[]
): unknown {
  return Reflect.construct(ofClass, given);
}

const asked = { lock: 'db', client: 'alice' };
const askedKinds = { lock: 'name', client: 'name' } as const;

function service(): { target: LockService; look: () => unknown } {
  const target = new LockService();
  target.acquire({ ...asked, ttl: 10, now: 0 });
  return { target, look: () => target.save() };
}

const ofService: readonly Row[] = [
  made('new LockService', ({ firstToken }) => reconstruct(LockService, firstToken), {
    good: { firstToken: 1 },
    kinds: { firstToken: 'length?' },
  }),
  made('new LockService', (rules) => reconstruct(LockService, 1, rules), {
    good: { lockDelay: 0, renewRaises: false, numbering: 'exact' },
    kinds: { lockDelay: 'count', renewRaises: 'flag', numbering: 'word' },
  }),
  made('new LockService', ({ rules }) => reconstruct(LockService, 1, rules), {
    good: { rules: {} },
    kinds: { rules: 'object?' },
  }),
  rowOf('LockService.acquire', service, {
    good: { ...asked, ttl: 10, now: 5 },
    kinds: { ...askedKinds, ttl: 'length', now: 'time' },
  }),
  rowOf('LockService.renew', service, {
    good: { ...asked, token: 1, ttl: 10, now: 5 },
    kinds: { ...askedKinds, token: 'token|null', ttl: 'length', now: 'time' },
  }),
  rowOf('LockService.release', service, {
    good: { ...asked, token: 1 },
    kinds: { ...askedKinds, token: 'token|null' },
  }),
  ...['acquire', 'renew', 'release'].map((method) =>
    rowOf(`LockService.${method}`, service, {
      order: ['ask'],
      good: { ask: { ...asked, token: 1, ttl: 10, now: 5 } },
      kinds: { ask: 'object' },
    }),
  ),
  ...['current', 'forget'].map((method) =>
    rowOf(`LockService.${method}`, service, {
      order: ['lock'],
      good: { lock: 'db' },
      kinds: { lock: 'name' },
    }),
  ),
  rowOf('LockService.load', service, {
    good: { counter: 1, grants: [] },
    kinds: { counter: 'count', grants: 'list' },
  }),
];

const place = { lock: 'db', resource: 'disk', key: 'x' };
const placeKinds = { lock: 'name', resource: 'name?', key: 'name' } as const;
const inStore = { resource: 'disk', key: 'x' };
const ofAccess = { ...inStore, token: 1, sequence: 3 };
const accessKinds = { resource: 'name', key: 'name', token: 'count', sequence: 'count' } as const;

function store(): { target: Store; look: () => unknown } {
  const target = new Store('fenced-sequenced');
  target.write({ ...inStore, token: 1, sequence: 1 }, 7);
  return { target, look: () => contentsOf(target) };
}

/** Includes the last sequence number of the store, which only a refusal shows. */
function contentsOf(target: Store): unknown {
  return [target.contents('disk'), target.whyRefused({ ...ofAccess, sequence: 0 })];
}

function client(): { target: LockClient; look: () => unknown } {
  const target = new LockClient('alice', service().target);
  target.remember({ lock: 'db', token: 1 });
  return { target, look: () => [...guarded(target)] };
}

/** The client's state for the lock: its token and the number of the next access. */
function* guarded(target: LockClient): Generator<unknown> {
  yield target.token('db');
  yield Reflect.get(target, 'sent');
}

/** The store is new in each call; the client's own memory must not change. */
function accessRow(method: 'read' | 'write' | 'open'): Row {
  return {
    method: `LockClient.${method}`,
    make: () => {
      const { target, look } = client();
      const { target: disk } = store();
      const apply = untyped(target, method);
      return {
        look: () => [structuredClone(look()), contentsOf(disk)],
        call: ({ value, ...where }) => apply(disk, where, value),
      };
    },
    good: { ...place, ...(method === 'write' ? { value: 1 } : {}) },
    kinds: { ...placeKinds, ...(method === 'write' ? { value: 'value' } : {}) },
  };
}

const ofClient: readonly Row[] = [
  made('new LockClient', ({ id, service: of }) => reconstruct(LockClient, id, of), {
    good: { id: 'alice', service: null },
    kinds: { id: 'name', service: 'made|null?' },
  }),
  ...(['acquire', 'renew'] as const).map((method) =>
    rowOf(`LockClient.${method}`, client, {
      good: { lock: 'db', ttl: 10, now: 5 },
      kinds: { lock: 'name', ttl: 'length', now: 'time' },
    }),
  ),
  rowOf('LockClient.remember', client, {
    good: { lock: 'db', token: 2 },
    kinds: { lock: 'name', token: 'token' },
  }),
  ...['release', 'forget', 'token'].map((method) =>
    rowOf(`LockClient.${method}`, client, {
      order: ['lock'],
      good: { lock: 'db' },
      kinds: { lock: 'name' },
    }),
  ),
  ...['read', 'write', 'open'].map((method) =>
    rowOf(`LockClient.${method}`, client, {
      order: ['store', 'place', 'value'],
      good: { store: new Store('unfenced'), place, value: 1 },
      kinds: { store: 'made', place: 'object', ...(method === 'write' ? { value: 'value' } : {}) },
    }),
  ),
  ...(['read', 'write', 'open'] as const).map(accessRow),
];

const { about: _, source: __, notGuaranteed: ___, ...ruleFields } = { ...stores.get('fenced') };
const ruleKinds = Object.fromEntries(
  Object.entries(ruleFields).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? ('flag' as const) : ('word' as const),
  ]),
);

const ofStore: readonly Row[] = [
  made('new Store', ({ kind }) => reconstruct(Store, kind), {
    good: { kind: 'fenced' },
    kinds: { kind: 'word' },
  }),
  made('new Store', (rule) => reconstruct(Store, rule), { good: ruleFields, kinds: ruleKinds }),
  made('new Store', (requirements) => reconstruct(Store, 'fenced', requirements), {
    good: { takesAnyToken: true },
    kinds: { takesAnyToken: 'flag?' },
  }),
  ...['read', 'open', 'whyRefused'].map((method) =>
    rowOf(`Store.${method}`, store, { good: ofAccess, kinds: accessKinds }),
  ),
  {
    method: 'Store.write',
    make: () => {
      const { target, look } = store();
      const write = untyped(target, 'write');
      return { look, call: ({ value, ...access }) => write(access, value) };
    },
    good: { ...ofAccess, value: 1 },
    kinds: { ...accessKinds, value: 'value' },
  },
  rowOf('Store.highest', store, { good: inStore, kinds: { resource: 'name', key: 'name' } }),
  rowOf('Store.contents', store, {
    order: ['resource'],
    good: inStore,
    kinds: { resource: 'name' },
  }),
  rowOf('Store.forget', store, { order: ['key'], good: inStore, kinds: { key: 'name' } }),
];

const holder = { machine: 'order-7', steps: 0, retries: 0 };
const holderKinds = { machine: 'name', steps: 'count', retries: 'count' } as const;

/** Converts an object to plain data, recursively. */
export function plainOf(value: unknown): unknown {
  if (typeof value === 'function') return 'a function';
  if (value instanceof Map) return [...value].map(plainOf);
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([name, field]) => [name, plainOf(field)]);
}

const ofLeases: readonly Row[] = [LeaseTable, LeaseCache].flatMap((of) => {
  const make = (): { target: LeaseTable | LeaseCache; look: () => unknown } => {
    const target = new of();
    return { target, look: () => plainOf(target) };
  };
  const taken = (): ReturnType<typeof make> => {
    const { target, look } = make();
    target.acquire({ ...holder, timeout: 300, now: 0 });
    return { target, look };
  };
  const isCache = of === LeaseCache;
  return [
    rowOf(`${of.name}.acquire`, make, {
      good: { ...holder, timeout: 300, now: 0 },
      kinds: { ...holderKinds, timeout: 'count', now: 'count' },
    }),
    rowOf(`${of.name}.release`, taken, {
      good: { ...holder, fence: 1, now: 0 },
      kinds: { ...holderKinds, fence: 'count', ...(isCache ? { now: 'count' as const } : {}) },
    }),
  ];
});

function leaseCache(): { target: LeaseCache; look: () => unknown } {
  const target = new LeaseCache();
  return { target, look: () => plainOf(target) };
}

const ofLeaseCache: readonly Row[] = [
  made('new LeaseCache', ({ keyTtl }) => reconstruct(LeaseCache, keyTtl), {
    good: { keyTtl: 10 },
    kinds: { keyTtl: 'length?' },
  }),
  rowOf('LeaseCache.evict', leaseCache, {
    order: ['machine'],
    good: holder,
    kinds: { machine: 'name' },
  }),
];

function cache(): { target: Cache; look: () => unknown } {
  const target = new Cache();
  target.set('a', 'x', 10, 0);
  return { target, look: () => target.save() };
}

const item = { key: 'a', value: 'y', ttl: 10, now: 5 };
const itemKinds = { key: 'name', value: 'json', ttl: 'length|null', now: 'time' } as const;
const inCache = { key: 'name', now: 'time' } as const;

const ofCache: readonly Row[] = [
  ...['get', 'endOf', 'delete'].map((method) =>
    rowOf(`Cache.${method}`, cache, { order: ['key', 'now'], good: item, kinds: inCache }),
  ),
  ...['add', 'set'].map((method) =>
    rowOf(`Cache.${method}`, cache, {
      order: ['key', 'value', 'ttl', 'now'],
      good: item,
      kinds: itemKinds,
    }),
  ),
  rowOf('Cache.cas', cache, {
    order: ['key', 'value', 'unique', 'ttl', 'now'],
    good: { ...item, unique: 1 },
    kinds: { ...itemKinds, unique: 'count' },
  }),
  rowOf('Cache.touch', cache, {
    order: ['key', 'ttl', 'now'],
    good: item,
    kinds: { ...inCache, ttl: 'length|null' },
  }),
  rowOf('Cache.forget', cache, { order: ['key'], good: item, kinds: { key: 'name' } }),
  rowOf('Cache.load', cache, {
    good: { unique: 1, entries: [] },
    kinds: { unique: 'count', entries: 'list' },
  }),
];

const settings = {
  key: 'db',
  expiration: 10,
  retry: 2,
  timeout: -1,
  blocking: true,
  newToken: () => 'token',
  release: 'published',
  extends: 'anyone',
} as const;

function lockOnCache(isHeld: boolean): () => { target: CacheLock; look: () => unknown } {
  return () => {
    const onCache = new Cache();
    const target = new CacheLock(onCache, settings);
    if (isHeld) target.acquire(0);
    return { target, look: () => plainOf(target) };
  };
}

const ofCacheLock: readonly Row[] = [
  made('new CacheLock', (given) => reconstruct(CacheLock, new Cache(), given), {
    good: settings,
    kinds: {
      key: 'name',
      expiration: 'length',
      retry: 'length',
      timeout: 'timeout?',
      blocking: 'flag?',
      newToken: 'function',
      release: 'word?',
      extends: 'word?',
    },
  }),
  made('new CacheLock', (given) => reconstruct(CacheLock, given['cache'], given['settings']), {
    good: { cache: new Cache(), settings },
    kinds: { cache: 'made', settings: 'object' },
  }),
  rowOf('CacheLock.acquire', lockOnCache(false), {
    order: ['now'],
    good: { now: 5 },
    kinds: { now: 'time' },
  }),
  rowOf('CacheLock.extend', lockOnCache(true), {
    order: ['now', 'expiration'],
    good: { now: 5, expiration: 10 },
    kinds: { now: 'time', expiration: 'length?' },
  }),
  rowOf('CacheLock.release', lockOnCache(true), {
    order: ['now'],
    good: { now: 5 },
    kinds: { now: 'time' },
  }),
];

function table(version: 'count' | 'timestamp') {
  return (): { target: OptimisticTable; look: () => unknown } => {
    const target = new OptimisticTable({ first: { value: 1, version: 5 }, version });
    return { target, look: () => [target.read('x'), plainOf(target)] };
  };
}

const update = { id: 'x', version: 5, once: 'a/1', now: 7 };

function updateRow(version: 'count' | 'timestamp', change: 'adds' | 'value'): Row {
  return {
    method: `OptimisticTable.update by ${version}`,
    make: () => {
      const { target, look } = table(version)();
      const apply = untyped(target, 'update');
      return {
        look,
        call: ({ [change]: by, ...rest }) => apply({ ...rest, set: { [change]: by } }),
      };
    },
    good: { ...update, [change]: 1 },
    kinds: {
      id: 'name',
      version: 'time?',
      once: 'name?',
      [change]: 'time',
      now: version === 'timestamp' ? 'time' : 'time?',
    },
  };
}

const ofTable: readonly Row[] = [
  made('new OptimisticTable', (first) => reconstruct(OptimisticTable, { first }), {
    good: { value: 1, version: 5 },
    kinds: { value: 'count', version: 'time' },
  }),
  made('new OptimisticTable', (given) => reconstruct(OptimisticTable, given), {
    good: { version: 'count', first: { value: 1, version: 5 } },
    kinds: { version: 'word?', first: 'object?' },
  }),
  rowOf('OptimisticTable.read', table('count'), {
    order: ['id'],
    good: { id: 'x' },
    kinds: { id: 'name' },
  }),
  rowOf('OptimisticTable.update', table('count'), {
    good: { ...update, set: { adds: 1 } },
    kinds: { set: 'object' },
  }),
  ...(['count', 'timestamp'] as const).flatMap((version) =>
    (['adds', 'value'] as const).map((change) => updateRow(version, change)),
  ),
];

export const rows: readonly Row[] = [
  ...ofService,
  ...ofClient,
  ...ofStore,
  ...ofLeases,
  ...ofLeaseCache,
  ...ofCache,
  ...ofCacheLock,
  ...ofTable,
];
