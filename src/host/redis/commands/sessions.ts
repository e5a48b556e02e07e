/**
 * Commands on the connection itself: transactions, subscriptions, and the handshake of drivers.
 */
import type { RedisPush, RedisReply } from '../reply.ts';
import { errorOf, NIL, NIL_LIST, OK, repeated, SYNTAX_ERROR } from '../reply.ts';
import { databaseOf, type Row, type Run, type Setting } from '../setting.ts';
import { globOf } from './keys.ts';
import { readInteger } from './numbers.ts';

function multi(_: readonly string[], { session }: Setting): RedisReply {
  if (session.queue !== null) return errorOf('ERR MULTI calls can not be nested');
  session.queue = [];
  return OK;
}

function discard(_: readonly string[], { session }: Setting): RedisReply {
  if (session.queue === null) return errorOf('ERR DISCARD without MULTI');
  session.endTransaction();
  return OK;
}

function exec(_: readonly string[], at: Setting): RedisReply {
  const { session } = at;
  const { queue, isBroken } = session;
  if (queue === null) return errorOf('ERR EXEC without MULTI');
  const isLost = session.isDirty || hasExpired(at);
  session.endTransaction();
  if (isBroken) {
    return errorOf('EXECABORT Transaction discarded because of previous errors.');
  }
  return isLost ? NIL_LIST : queue.map((command) => at.carryOut(command, at));
}

/** A watched key that did not exist cannot expire. */
function hasExpired({ memory, session, nowMs }: Setting): boolean {
  for (const { database, key, wasThere } of session.watched.values()) {
    if (wasThere && !memory.database(database).has(key, nowMs)) return true;
  }
  return false;
}

function watch(keys: readonly string[], at: Setting): RedisReply {
  const { session } = at;
  if (session.queue !== null) return errorOf('ERR WATCH inside MULTI is not allowed');
  for (const key of keys) {
    const { database } = session;
    const place = `${database}:${key}`;
    if (session.watched.has(place)) continue;
    session.watched.set(place, { database, key, wasThere: databaseOf(at).has(key, at.nowMs) });
  }
  return OK;
}

function unwatch(_: readonly string[], { session }: Setting): RedisReply {
  session.unwatch();
  return OK;
}

type Topic = 'channels' | 'patterns';

function subscribing(kind: 'subscribe' | 'psubscribe', topic: Topic): Run {
  return (names, { session }) => ({
    pushes: names.map((name): RedisPush => {
      session[topic].add(name);
      return [kind, name, session.channels.size + session.patterns.size];
    }),
  });
}

/** Without names, unsubscribes from all. */
function unsubscribing(kind: 'unsubscribe' | 'punsubscribe', topic: Topic): Run {
  return (args, { session }) => {
    const names = args.length > 0 ? args : [...session[topic]];
    const left = (): number => session.channels.size + session.patterns.size;
    if (names.length === 0) return { pushes: [[kind, NIL, left()]] };
    return {
      pushes: names.map((name): RedisPush => {
        session[topic].delete(name);
        return [kind, name, left()];
      }),
    };
  };
}

function publish([channel = '', text = '']: readonly string[], { memory }: Setting): RedisReply {
  let count = 0;
  for (const { id, channels, patterns } of memory.sessions.values()) {
    if (channels.has(channel)) {
      count += 1;
      memory.push(id, ['message', channel, text]);
    }
    for (const pattern of patterns) {
      if (!globOf(pattern)(channel)) continue;
      count += 1;
      memory.push(id, ['pmessage', pattern, channel, text]);
    }
  }
  return count;
}

function channelsNow({ memory }: Setting): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { channels } of memory.sessions.values()) {
    for (const channel of channels) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  }
  return counts;
}

function channelsOf([pattern, ...more]: readonly string[], at: Setting): RedisReply {
  if (more.length > 0) {
    return errorOf(
      "ERR unknown subcommand or wrong number of arguments for 'channels'. Try PUBSUB HELP.",
    );
  }
  const isMeant = pattern === undefined ? (): boolean => true : globOf(pattern);
  return [...channelsNow(at).keys()].filter(isMeant);
}

function patternCount(_: readonly string[], { memory }: Setting): RedisReply {
  const patterns = [...memory.sessions.values()].flatMap((session) => [...session.patterns]);
  return new Set(patterns).size;
}

function ping([text, ...more]: readonly string[], { session }: Setting): RedisReply {
  if (more.length > 0) return errorOf("ERR wrong number of arguments for 'ping' command");
  if (session.isSubscriber && session.version === 2) return ['pong', text ?? ''];
  return text ?? { status: 'PONG' };
}

function hello([version, ...words]: readonly string[], at: Setting): RedisReply {
  const { session } = at;
  const asked = version === undefined ? null : readInteger(version);
  if (version !== undefined && asked === null) {
    return errorOf('ERR Protocol version is not an integer or out of range');
  }
  if (asked !== null && asked !== 2n && asked !== 3n) {
    return errorOf('NOPROTO unsupported protocol version');
  }
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]?.toUpperCase();
    const name = words[index + 1];
    if (word === 'AUTH' && index + 2 < words.length) index += 2;
    else if (word === 'SETNAME' && name !== undefined) {
      session.name = name;
      index += 1;
    } else return errorOf(`ERR Syntax error in HELLO option '${repeated(words[index] ?? '')}'`);
  }
  if (asked !== null) session.version = asked === 3n ? 3 : 2;
  return {
    mapping: [
      'server',
      'redis',
      'version',
      SERVER_VERSION,
      'proto',
      session.version,
      'id',
      1,
      'mode',
      'standalone',
      'role',
      'master',
      'modules',
      [],
    ],
  };
}

/** The version of Redis whose commands are implemented. */
const SERVER_VERSION = '7.0.15';

function auth(args: readonly string[]): RedisReply {
  if (args.length > 2) return SYNTAX_ERROR;
  if (args.length === 2 && args[0] === 'default') return OK;
  if (args.length === 2) {
    return errorOf('WRONGPASS invalid username-password pair or user is disabled.');
  }
  return errorOf(
    'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
  );
}

function setName([name = '']: readonly string[], { session }: Setting): RedisReply {
  if (/[^!-~]/.test(name)) {
    return errorOf('ERR Client names cannot contain spaces, newlines or special characters.');
  }
  session.name = name;
  return OK;
}

function reset(_: readonly string[], { session }: Setting): RedisReply {
  session.endTransaction();
  session.channels.clear();
  session.patterns.clear();
  session.database = 0;
  session.name = '';
  session.version = 2;
  return { status: 'RESET' };
}

function quit(_: readonly string[], { memory, session }: Setting): RedisReply {
  memory.sessions.delete(session.id);
  return OK;
}

function info(_: readonly string[], at: Setting): RedisReply {
  const keyspace = at.memory.used.flatMap((database) => {
    const names = database.names(at.nowMs);
    const ending = names.filter((name) => database.get(name, at.nowMs)?.end !== null).length;
    const counts = `keys=${names.length},expires=${ending},avg_ttl=0`;
    return names.length === 0 ? [] : [`db${database.index}:${counts}`];
  });
  const server = [`redis_version:${SERVER_VERSION}`, 'redis_mode:standalone', 'tcp_port:6379'];
  const parts = [
    ['# Server', ...server],
    ['# Persistence', 'loading:0'],
    ['# Replication', 'role:master', 'connected_slaves:0'],
    ['# Cluster', 'cluster_enabled:0'],
    ['# Keyspace', ...keyspace],
  ];
  return { verbatim: parts.map((lines) => `${lines.join('\r\n')}\r\n`).join('\r\n') };
}

/** Executes WAIT. Returns 0 at once, because a node does not know which replicas are up to date. */
function wait([count = '', time = '']: readonly string[]): RedisReply {
  const [replicas, timeout] = [readInteger(count), readInteger(time)];
  if (replicas === null) return errorOf('ERR value is not an integer or out of range');
  if (timeout === null) return errorOf('ERR timeout is not an integer or out of range');
  return timeout < 0n ? errorOf('ERR timeout is negative') : 0;
}

export const sessionRows: readonly Row[] = [
  ['multi', 1, multi, 'no script', 'at once'],
  ['exec', 1, exec, 'no script', 'at once'],
  ['discard', 1, discard, 'no script', 'at once'],
  ['watch', -2, watch, 'no script', 'at once'],
  ['unwatch', 1, unwatch, 'no script'],
  ['subscribe', -2, subscribing('subscribe', 'channels'), 'no script', 'subscriber'],
  ['psubscribe', -2, subscribing('psubscribe', 'patterns'), 'no script', 'subscriber'],
  ['unsubscribe', -1, unsubscribing('unsubscribe', 'channels'), 'no script', 'subscriber'],
  ['punsubscribe', -1, unsubscribing('punsubscribe', 'patterns'), 'no script', 'subscriber'],
  ['publish', 3, publish],
  ['pubsub|channels', -2, channelsOf],
  [
    'pubsub|numsub',
    -2,
    (names, at) => names.flatMap((name) => [name, channelsNow(at).get(name) ?? 0]),
  ],
  ['pubsub|numpat', 2, patternCount],
  ['ping', -1, ping, 'subscriber'],
  ['echo', 2, ([text = '']) => text],
  ['hello', -1, hello, 'no script'],
  ['auth', -2, auth, 'no script'],
  ['client|setname', 3, setName, 'no script'],
  ['client|getname', 2, (_, { session }) => session.name || NIL, 'no script'],
  ['client|id', 2, () => 1, 'no script'],
  ['reset', 1, reset, 'no script', 'at once', 'subscriber'],
  ['quit', -1, quit, 'no script', 'at once', 'subscriber'],
  ['info', -1, info],
  ['wait', 3, wait, 'no script'],
  ['time', 1, (_, { nowUs }) => [String(Math.floor(nowUs / 1e6)), String(nowUs % 1e6)]],
];
