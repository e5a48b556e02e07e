/**
 * Recognizes clients of servers that are not simulated, such as PostgreSQL or TLS, by their first
 * bytes. The run then fails and names the protocol, because no complete request would ever arrive.
 * Each row matches the first message in the documentation of its protocol.
 */

interface OtherProtocol {
  readonly name: string;
  /** Matches the first bytes that such a client sends, one character per byte. */
  readonly opening: RegExp;
  /** The lock of `fencepost init --lock` that models this kind of server. */
  readonly model?: string;
}

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are bytes */
const PROTOCOLS: readonly OtherProtocol[] = [
  {
    name: 'PostgreSQL', // StartupMessage of version 3; CancelRequest, SSLRequest, GSSENCRequest
    opening: /^\0\0(?:..\0\x03\0[\0-\x09]|\0\x08\x04\xd2\x16[\x2e-\x30])/s,
    model: 'postgres',
  },
  {
    name: 'ZooKeeper', // ConnectRequest: its length, with or without `readOnly`, and version 0
    opening: /^\0\0\0[\x2c\x2d]\0{4}/,
    model: 'zookeeper',
  },
  { name: 'Kafka', opening: /^\0\0..\0\x12\0[\0-\x0f]/s }, // ApiVersions
  { name: 'MongoDB', opening: /^.{3}\0.{4}\0{4}(?:\xdd|\xd4|\xdc)\x07\0\0/s }, // OP_MSG, OP_QUERY
  { name: 'TLS', opening: /^\x16\x03[\0-\x04]/ }, // ClientHello
  { name: 'HTTP/2 or gRPC', opening: /^PRI \* HTTP\/2\.0\r\n/, model: 'etcd' },
  { name: 'HTTP', opening: /^[A-Z]+ \S+ HTTP\/1\.[01]\r?\n/ },
  { name: 'AMQP', opening: /^AMQP[\0\x02\x03]/ },
  { name: 'SQL Server', opening: /^\x12\x01\0.\0\0/s }, // TDS PRELOGIN
  { name: 'Cassandra', opening: /^[\x03-\x05\x41\x42][\0\x10]\0\0[\x01\x05]/ }, // STARTUP, OPTIONS
  {
    name: 'memcached', // no Redis command begins with these words
    opening:
      /^(?:\x80[\0-\x24]|(?:(?:add|set|replace|append|prepend|cas) \S+ \d+ -?\d+ \d+|(?:gets|delete|stats|version|flush_all|m[gsdna])\b)[^\n]*\n)/,
  },
];
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: these are bytes */

/** Enough bytes to recognize each of the binary protocols. */
const ENOUGH_BYTES = 16;

/** Thrown if a client sends bytes that are not a request of its server. */
export class NotUnderstood extends Error {
  readonly bytes: string;
  /** The client's protocol, or null if it is unknown. */
  readonly protocol: string | null;

  constructor(bytes: string, protocol: string | null) {
    super('bytes that are not a request');
    this.bytes = bytes;
    this.protocol = protocol;
  }
}

/**
 * Returns true if a client whose first bytes are `bytes` speaks the expected protocol, or false if
 * more bytes are needed. Throws `NotUnderstood` if it speaks another protocol.
 */
export function isUnderstood(
  bytes: string,
  isExpected: (bytes: string) => boolean | null,
): boolean {
  const other = PROTOCOLS.find(({ opening }) => opening.test(bytes));
  const isRight = other === undefined && isExpected(bytes);
  if (isRight === true) return true;
  const isCertain = other !== undefined || (isRight === false && bytes.length >= ENOUGH_BYTES);
  if (isCertain) throw new NotUnderstood(bytes, other?.name ?? null);
  return false;
}

/** Returns the remedy for a client of this protocol, or of an unknown protocol if null. */
export function wayOutOf(protocol: string | null): string {
  if (protocol === 'TLS') return 'use `tls.connect`, which is a plain socket here';
  const model = PROTOCOLS.find(({ name }) => name === protocol)?.model;
  const fake = 'only Redis is simulated, so hand your code a fake client';
  return model === undefined ? fake : `${fake}, or model the lock: fencepost init --lock ${model}`;
}

/** Quotes the first bytes for a message: `"\x00\x00\x00\x08abc"`. */
export function quoteBytes(bytes: string): string {
  const shown = bytes.slice(0, ENOUGH_BYTES).replace(/[^ !#-[\]-~]/g, (byte) => {
    return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${shown}"${bytes.length > ENOUGH_BYTES ? '…' : ''}`;
}
