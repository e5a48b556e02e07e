/**
 * Where the queue is: a URL as people type it, what a connection is opened with, and the same URL
 * without what is secret. Nothing else of fencepost may print a queue's URL.
 */

/** What a connection to Redis is opened with; an address of no kind is one. */
export interface RedisAddress {
  readonly kind?: 'redis';
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: Readonly<Record<string, never>>;
}

/** What a connection to PostgreSQL is opened with. */
export interface PostgresAddress {
  readonly kind: 'postgres';
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  /** Without it, the one that has the user's name. */
  readonly database?: string;
  readonly tls: 'none' | 'checked' | 'unchecked';
}

export type QueueAddress = RedisAddress | PostgresAddress;

export type QueueUrlRead =
  | { readonly kind: 'address'; readonly address: QueueAddress; readonly shown: string }
  /** `what` is a clause, and names no secret. */
  | { readonly kind: 'problem'; readonly what: string };

const REDIS_PORT = 6379;
const POSTGRES_PORT = 5432;

/** What `sslmode` says, as the package `pg` reads it: but for `no-verify`, certificates count. */
const TLS_OF: ReadonlyMap<string | null, PostgresAddress['tls']> = new Map([
  [null, 'none'],
  ['disable', 'none'],
  ['require', 'checked'],
  ['verify-full', 'checked'],
  ['no-verify', 'unchecked'],
]);

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/**
 * Reads `redis://[user[:password]@]host[:port][/db]`, or `rediss://` for TLS, or
 * `postgres://[user[:password]@]host[:port][/database][?sslmode=…]`.
 */
export function readQueueUrl(text: string): QueueUrlRead {
  const url = parsed(text);
  if (url === null) return problem('is no URL; expected e.g. redis://127.0.0.1:6379');
  const isRedis = /^rediss?:$/.test(url.protocol);
  if (!isRedis && !/^postgres(ql)?:$/.test(url.protocol)) {
    return problem('is no redis://, rediss:// or postgres:// URL');
  }
  if (url.hostname === '') return problem('names no host');
  const username = decoded(url.username);
  const password = decoded(url.password);
  if (username === null || password === null) return problem('has credentials with a stray %');
  const credentials = {
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
  };
  return isRedis ? readRedis(url, credentials) : readPostgres(url, credentials);
}

function readRedis(url: URL, credentials: Credentials): QueueUrlRead {
  if (url.search !== '' || url.hash !== '') return problem('has options, which are not taken');
  const db = url.pathname.replace(/^\//, '');
  if (!/^\d{0,3}$/.test(db)) return problem('has a path that is no number of a database');
  const address: RedisAddress = {
    ...{ host: hostOf(url), port: url.port === '' ? REDIS_PORT : Number(url.port) },
    ...credentials,
    ...(db === '' ? {} : { db: Number(db) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
  return { kind: 'address', address, shown: shownOf(url) };
}

function readPostgres(url: URL, credentials: Credentials): QueueUrlRead {
  const options = [...url.searchParams.keys()];
  const isKnown = options.length === 0 || (options.length === 1 && options[0] === 'sslmode');
  if (!isKnown || url.hash !== '') {
    return problem('has options, of which only one sslmode is taken');
  }
  const tls = TLS_OF.get(url.searchParams.get('sslmode'));
  if (tls === undefined) {
    return problem('has an sslmode other than disable, require, verify-full and no-verify');
  }
  const database = decoded(url.pathname.replace(/^\//, ''));
  if (database === null || database.includes('/')) {
    return problem('has a path that is no name of a database');
  }
  const address: PostgresAddress = {
    ...{ kind: 'postgres', host: hostOf(url) },
    port: url.port === '' ? POSTGRES_PORT : Number(url.port),
    ...credentials,
    ...(database === '' ? {} : { database }),
    tls,
  };
  return { kind: 'address', address, shown: shownOf(url) };
}

function problem(what: string): QueueUrlRead {
  return { kind: 'problem', what };
}

function parsed(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The URL with `***` for its credentials, and without options. */
function shownOf(url: URL): string {
  const hasSecret = url.username !== '' || url.password !== '';
  return `${url.protocol}//${hasSecret ? '***@' : ''}${url.host}${url.pathname.replace(/\/$/, '')}`;
}

/** What is to be told before a queue is used there; null for nothing. */
export function warningOf({ kind }: QueueAddress): string | null {
  return kind === 'postgres' ? 'warning: sweeps on a queue in PostgreSQL are experimental' : null;
}

/** A text of others, such as an error of the connection, without the password. */
export function withoutSecrets(text: string, { password }: QueueAddress): string {
  const withoutUrls = text.replaceAll(/((?:rediss?|postgres(?:ql)?):\/\/)[^@\s/]*@/g, '$1***@');
  if (password === undefined || password === '') return withoutUrls;
  return withoutUrls.replaceAll(password, '***').replaceAll(encodeURIComponent(password), '***');
}
