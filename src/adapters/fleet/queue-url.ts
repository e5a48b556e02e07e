/**
 * Parses the URL of the queue into connection options and a printable form without secrets, and
 * classifies connection errors. No other code of fencepost may print the URL of a queue.
 */

export interface QueueAddress {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: Readonly<Record<string, never>>;
}

type QueueUrlRead =
  | { readonly kind: 'address'; readonly address: QueueAddress; readonly shown: string }
  /** `what` is a clause without secrets. */
  | { readonly kind: 'problem'; readonly what: string };

const REDIS_PORT = 6379;

/** Parses `redis://[user[:password]@]host[:port][/db]`, or `rediss://` for TLS. */
export function readQueueUrl(text: string): QueueUrlRead {
  const url = parsed(text);
  if (url === null) return problem('is not a URL; expected e.g. redis://127.0.0.1:6379');
  if (!/^rediss?:$/.test(url.protocol)) return problem('is not a redis:// or rediss:// URL');
  if (url.hostname === '') return problem('names no host');
  const [username, password] = [decoded(url.username), decoded(url.password)];
  if (username === null || password === null) return problem('has credentials with a stray %');
  if (url.search !== '' || url.hash !== '') return problem('has options, which are not supported');
  const db = url.pathname.replace(/^\//, '');
  if (!/^\d{0,3}$/.test(db)) return problem('has a path that is not a database number');
  const address: QueueAddress = {
    // Strip the brackets of an IPv6 address.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? REDIS_PORT : Number(url.port),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(db === '' ? {} : { db: Number(db) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
  const secret = url.username !== '' || url.password !== '' ? '***@' : '';
  const shown = `${url.protocol}//${secret}${url.host}${url.pathname.replace(/\/$/, '')}`;
  return { kind: 'address', address, shown };
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

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Removes the password from text that another library produced, such as a connection error. */
export function withoutSecrets(text: string, { password }: QueueAddress): string {
  const withoutUrls = text.replaceAll(/((?:rediss?):\/\/)[^@\s/]*@/g, '$1***@');
  if (password === undefined || password === '') return withoutUrls;
  return withoutUrls.replaceAll(password, '***').replaceAll(encodeURIComponent(password), '***');
}

/** Returns true if Redis may answer later: it is unreachable or starting. */
export function isAway(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error.name === 'ReplyError') return /^(?:LOADING|MASTERDOWN|READONLY)\b/.test(error.message);
  if (error.name === 'MaxRetriesPerRequestError') return true;
  const isOfNetwork = 'code' in error && AWAY_CODES.test(String(error.code));
  return isOfNetwork || /connection is closed|timed out|writeable/i.test(error.message);
}

const AWAY_CODES = /^E(?:CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/;
