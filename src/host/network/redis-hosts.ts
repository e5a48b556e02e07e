/**
 * Redis nodes that listen at an address of the simulated world, for drivers as they are: ioredis,
 * node-redis and what is built on them. The words of a handshake are answered on the client's side,
 * at once, so that a driver that greets at length changes nothing of what is tested.
 */
import { assert } from '../../core/kernel/assert.ts';
import type { Replaceable } from '../../core/world/server.ts';
import type { World } from '../../core/world/world.ts';
import { type Means, type RedisHost, redisPort, redlockMeaning } from '../redis/meaning.ts';
import { RedisNode } from '../redis/node.ts';
import type { RedisCommand, RedisReply, RedisRequest } from '../redis/reply.ts';
import { CommandDecoder, encodeReply, type RespVersion } from '../redis/resp.ts';
import { listenerFor } from './connection.ts';
import { type Asked, hostsOf, type WireProtocol, type WireSession } from './hosts.ts';

/**
 * Lets every client of `world` reach a node at an address, `redis-1:6379`, by whatever driver. To
 * connect is a call `connect`, each command one with its name, as `alice/1/set`. `means` says what
 * scripts mean for locks; those of npm redlock are known if it is absent.
 */
export function listen(
  world: World,
  address: string,
  node: RedisHost,
  { means = redlockMeaning }: { readonly means?: Means } = {},
): void {
  const port = redisPort(node, means);
  hostsOf(world).listen(address, listenerFor({ protocol: REDIS, port }));
}

/** The same for the node of this name, which is added where there is none. */
export function listenAs(name: string, world: World, address: string): void {
  const found = world.serverNamed(name);
  const node = found ?? world.addServer({ name, role: 'lock' }, new RedisNode());
  assert(isNode(node), 'only a Redis node listens');
  // Its lock may have said more of it.
  if (hostsOf(world).at(address) === null) listen(world, address, node);
}

function isNode(host: Replaceable): host is RedisHost {
  return host.speaks === 'redis';
}

const REDIS: WireProtocol<RedisRequest, RedisReply> = {
  hello: ['PING'],
  open: (id) => new RedisSession(id),
};

const HANDSHAKE: ReadonlySet<string> = new Set([
  ...['hello', 'auth', 'client', 'info', 'command', 'config', 'readonly'],
]);

const SUBSCRIBES: ReadonlySet<string> = new Set(['subscribe', 'psubscribe']);

class RedisSession implements WireSession<RedisRequest, RedisReply> {
  private readonly id: string;
  private readonly decoder: CommandDecoder = new CommandDecoder();
  /** Answers the words of a handshake as any node does. */
  private readonly greeter: RedisNode = new RedisNode();
  private version: RespVersion = 2;
  listening: RedisRequest | null = null;

  constructor(id: string) {
    this.id = id;
  }

  decode(bytes: string): readonly Asked<RedisRequest>[] {
    return this.decoder.push(bytes).map((command) => this.asked(command));
  }

  encode(reply: RedisReply): string {
    return encodeReply(reply, this.version);
  }

  private asked(command: RedisCommand): Asked<RedisRequest> {
    const label = (command[0] ?? '').toLowerCase();
    const request = { session: this.id, command };
    const call = { kind: 'call', label, request } as const;
    if (SUBSCRIBES.has(label)) this.listening = { session: this.id, awaits: 'push' };
    if (label === 'quit') return { ...call, isLast: true };
    if (!HANDSHAKE.has(label)) return call;
    const reply = this.greeter.handle(request, { wallUs: 0 });
    const before = this.version;
    if (label === 'hello' && 'mapping' in Object(reply)) this.version = command[1] === '3' ? 3 : 2;
    // The node has to know which version it speaks to this connection.
    if (before !== this.version) return { ...call, reply: this.encode(reply) };
    return { kind: 'edge', reply: this.encode(reply) };
  }
}
