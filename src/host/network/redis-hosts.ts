/**
 * Redis nodes that listen at addresses of the simulated world, for unmodified drivers: ioredis,
 * node-redis and libraries based on them. Handshake commands are answered at once at the client's
 * end, so that a driver's long handshake does not affect the test.
 */
import { assert } from '../../core/kernel/assert.ts';
import type { Replaceable } from '../../core/world/server.ts';
import type { World } from '../../core/world/world.ts';
import { rows } from '../redis/commands.ts';
import { type Means, type RedisHost, redisPort, redlockMeaning } from '../redis/meaning.ts';
import { RedisNode } from '../redis/node.ts';
import {
  isList,
  type RedisCommand,
  type RedisReply,
  type RedisRequest,
  type SessionCommand,
} from '../redis/reply.ts';
import { CommandDecoder, encodeReply, isRedis, type RespVersion } from '../redis/resp.ts';
import { listenerFor } from './connection.ts';
import { type Asked, hostsOf, type WireProtocol, type WireSession } from './hosts.ts';
import { NotUnderstood } from './other-protocols.ts';

/**
 * Makes a node available to every client of `world` at an address such as `redis-1:6379`. A
 * connection is a call `connect`, and a command is a call with its name, such as `alice/1/set`.
 * `means` gives the effect of scripts on locks; the default knows the scripts of npm redlock.
 */
export function listen(
  world: World,
  address: string,
  node: RedisHost,
  { means = redlockMeaning }: { readonly means?: Means } = {},
): void {
  const port = redisPort(node, means);
  hostsOf(world).listen(address, listenerFor({ protocol: REDIS, port }), node.name);
}

/** Like `listen`, for the node with this name, which is added if it does not exist. */
export function listenAs(name: string, world: World, address: string): void {
  if (world.serverNamed(name) === undefined)
    world.addServer({ name, role: 'lock' }, new RedisNode());
  const node = world.serverNamed(name);
  assert(node !== undefined && isNode(node), 'only a Redis node listens');
  // Keep the lock's own listener, which may know more scripts.
  if (hostsOf(world).at(address) === null) listen(world, address, node);
}

function isNode(host: Replaceable): host is Replaceable & RedisHost {
  return host.speaks === 'redis';
}

const REDIS: WireProtocol<RedisRequest, RedisReply> = {
  hello: ['PING'],
  speaks: (bytes) => isRedis(bytes, (name) => HANDSHAKE.has(name) || KNOWN.has(name)),
  open: (id) => new RedisSession(id),
};

/** Without subcommands. */
const KNOWN: ReadonlySet<string> = new Set(rows.map(([name]) => name.replace(/\|.*/, '')));

const HANDSHAKE: ReadonlySet<string> = new Set([
  'hello',
  'auth',
  'client',
  'info',
  'command',
  'config',
  'readonly',
]);

const SUBSCRIBES: ReadonlySet<string> = new Set(['subscribe', 'psubscribe']);

class RedisSession implements WireSession<RedisRequest, RedisReply> {
  private readonly id: string;
  private readonly decoder: CommandDecoder = new CommandDecoder();
  private readonly greeter: RedisNode = new RedisNode();
  /** The protocol version requested last. `version` applies to the next reply. */
  private askedVersion: RespVersion = 2;
  private version: RespVersion = 2;
  /** Set within MULTI, where the node queues every command. */
  private isQueuing = false;
  listening: RedisRequest | null = null;
  farewell: RedisRequest | null = null;

  constructor(id: string) {
    this.id = id;
  }

  decode(bytes: string): readonly Asked<RedisRequest, RedisReply>[] {
    let commands: readonly RedisCommand[];
    try {
      commands = this.decoder.push(bytes);
    } catch {
      throw new NotUnderstood(bytes, null);
    }
    return commands.map((command) => this.asked(command));
  }

  /** Within an EXEC reply, each reply uses the protocol version that applies at that point. */
  encode(reply: RedisReply): string {
    if (isList(reply))
      return `*${reply.length}\r\n${reply.map((item) => this.encode(item)).join('')}`;
    this.version = versionIn(reply) ?? this.version;
    const subscriptions = subscriptionsIn(reply);
    if (subscriptions === 0) this.listening = null;
    else if (subscriptions !== null) this.listening = { session: this.id, awaits: 'push' };
    return encodeReply(reply, this.version);
  }

  private asked(command: RedisCommand): Asked<RedisRequest, RedisReply> {
    const label = (command[0] ?? '').toLowerCase();
    const request = { session: this.id, command };
    const call = { kind: 'call', label, request } as const;
    if (label === 'quit') {
      this.farewell = null;
      return { ...call, isLast: true };
    }
    // Subscriptions are the only state of a connection that others can observe.
    if (SUBSCRIBES.has(label)) this.farewell = { session: this.id, closes: true };
    // The node queues handshake commands within MULTI, and refuses them to a subscriber.
    const isGreeting = !this.isQueuing && this.farewell === null;
    if (HANDSHAKE.has(label) && isGreeting) return this.greeted(call);
    this.followTransaction(label, command.length);
    if (label === 'reset') {
      this.greeter.handle(request, { wallUs: 0 });
      this.askedVersion = 2;
    }
    return call;
  }

  private greeted<C extends GreetingCall>(call: C): Asked<RedisRequest, RedisReply> {
    let isSimulated = true;
    const noteUnsimulated = (): void => {
      isSimulated = false;
    };
    const reply = this.greeter.handle(call.request, { wallUs: 0, noteUnsimulated });
    // The node counts commands that are not simulated.
    if (!isSimulated) return call;
    const before = this.askedVersion;
    this.askedVersion = versionIn(reply) ?? before;
    // The node must know the protocol version of this connection.
    if (before !== this.askedVersion) return { ...call, reply };
    return { kind: 'edge', reply };
  }

  private followTransaction(label: string, words: number): void {
    if (label === 'exec' || label === 'reset') this.isQueuing = false;
    else if (label === 'multi' && words === 1) this.isQueuing = true;
    else if (label === 'discard' && words === 1) this.isQueuing = false;
  }
}

interface GreetingCall {
  readonly kind: 'call';
  readonly label: string;
  readonly request: SessionCommand;
}

/** Returns the version that applies after this reply, or null if it stays the same. */
function versionIn(reply: RedisReply): RespVersion | null {
  if (typeof reply !== 'object') return null;
  if ('status' in reply && reply.status === 'RESET') return 2;
  if (!('mapping' in reply) || reply.mapping[0] !== 'server') return null;
  const version = reply.mapping[reply.mapping.indexOf('proto') + 1];
  return version === 2 || version === 3 ? version : null;
}

const COUNTS = /^p?(?:un)?subscribe$/;

/** Returns null if the number is unchanged. */
function subscriptionsIn(reply: RedisReply): number | null {
  if (typeof reply !== 'object') return null;
  if ('status' in reply && reply.status === 'RESET') return 0;
  const [kind, , count] = 'pushes' in reply ? (reply.pushes.at(-1) ?? []) : [];
  return typeof kind === 'string' && COUNTS.test(kind) && typeof count === 'number' ? count : null;
}
