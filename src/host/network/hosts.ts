/**
 * Who listens where in a simulated world: names and ports as they stand in code, `redis-1:6379`,
 * each with the server that answers there and the protocol that its clients speak. Read on in
 * `connection.ts` (bytes that become calls), `virtual-socket.ts` (what a driver holds) and
 * `talks.ts` (clients that no server understands).
 */
import type { Json } from '../../core/kernel/json.ts';
import type { Caller, Port } from '../../core/world/port.ts';
import type { World } from '../../core/world/world.ts';
import type { Talk } from './talks.ts';

/** Texts in it are byte strings: each character is one byte. */
export interface WireProtocol<Q extends Json, R extends Json> {
  /** Asked when a connection is opened, as the call `connect`. */
  readonly hello: Q;
  /** Whether a client that began with these bytes speaks it; null if more of them are needed. */
  speaks(bytes: string): boolean | null;
  /** What one connection does; `id` tells it from all others of the run. */
  open(id: string): WireSession<Q, R>;
}

export interface WireSession<Q extends Json, R extends Json> {
  /** What is whole now of what the client sent, in order. Throws `NotUnderstood`. */
  decode(bytes: string): readonly Asked<Q, R>[];
  /** Called in the order of the requests, so that what a reply changes holds for the next ones. */
  encode(reply: R): string;
  /** What to ask the server for what it sends unasked; null while the client waits for nothing. */
  readonly listening: Q | null;
  /** What to tell the server once the client has hung up; null where it need not know. */
  readonly farewell: Q | null;
}

/** A request is one call of the world; or the client's side answers it itself. */
export type Asked<Q extends Json, R extends Json> =
  | {
      readonly kind: 'call';
      readonly label: string;
      readonly request: Q;
      /** Given at once; what the server answers then goes to nobody. */
      readonly reply?: R;
      /** Once it is answered, the server hangs up. */
      readonly isLast?: true;
    }
  | { readonly kind: 'edge'; readonly reply: R };

/** The network as one process sees it. */
export interface Uplink {
  readonly hosts: Hosts;
  /** Whose calls the requests of its connections are. */
  readonly caller: Caller;
  /** Of its next connection, from 1. */
  takeNumber(): number;
  /** All that were opened. */
  readonly talks: Talk[];
  nowUs(): number;
}

/** The client's end of a connection. */
export interface Remote {
  receive(bytes: string): void;
  /** It is over: with `ECONNRESET` say, or null where the server has said so. */
  close(code: string | null): void;
}

/** The server's end. */
export interface Wire {
  /** Throws `NotUnderstood` if the bytes are no request. */
  send(bytes: string): void;
  close(): void;
  /** Whether the client has sent a request. */
  readonly isUnderstood: boolean;
}

/** Opens a connection for whoever calls; null where it is refused. */
export type Listener = (
  caller: Caller,
  end: { id: string; remote: Remote },
) => Promise<Wire | string>;

export class Hosts {
  private readonly listeners: Map<string, Listener> = new Map();
  /** The name of the first that listens; null while none does. */
  server: string | null = null;

  listen(address: string, listener: Listener, server = 'lock'): void {
    this.server ??= server;
    this.listeners.set(canonical(address), listener);
  }

  at(address: string): Listener | null {
    const given = canonical(address);
    return this.listeners.get(given) ?? this.listeners.get(this.named(given)) ?? null;
  }

  get addresses(): readonly string[] {
    return [...this.listeners.keys()];
  }

  /** What a name resolves to; null where there is no such host. */
  ipOf(name: string): string | null {
    const host = hostIn(canonical(`${name}:0`));
    if (host === LOCAL) return '127.0.0.1';
    const at = this.names.indexOf(host);
    return at === -1 ? null : `10.0.0.${at + 1}`;
  }

  /** The address with the name of its host, where it has the number of one. */
  private named(address: string): string {
    const [, number, port] = /^10\.0\.0\.(\d+):(\d+)$/.exec(address) ?? [];
    return number === undefined ? address : `${this.names[Number(number) - 1] ?? ''}:${port ?? ''}`;
  }

  private get names(): readonly string[] {
    return [...new Set(this.addresses.map(hostIn))];
  }
}

const LOCAL = 'localhost';

/** With the host in lower case, and in brackets where it has colons itself: `[fd00::1]:6379`. */
function canonical(address: string): string {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address.toLowerCase()) ?? [];
  if (host === undefined) return address;
  if (host === '127.0.0.1' || host === '::1') return `${LOCAL}:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function hostIn(address: string): string {
  return address.replace(/:\d+$/, '');
}

const byWorld: WeakMap<World, Hosts> = new WeakMap();

export function hostsOf(world: World): Hosts {
  const known = byWorld.get(world) ?? new Hosts();
  byWorld.set(world, known);
  return known;
}

/** Who listens in `world` listens in `other` as well, which is the same seen by somebody else. */
export function shareHosts(world: World, other: World): void {
  byWorld.set(other, hostsOf(world));
}

/** A server behind a protocol, as it is called over the simulated network. */
export interface Served<Q extends Json, R extends Json> {
  readonly protocol: WireProtocol<Q, R>;
  readonly port: Port<Q, R>;
}
