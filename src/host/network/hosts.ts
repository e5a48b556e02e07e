/**
 * Registers the listeners of a simulated world by host name and port, such as `redis-1:6379`. Each
 * listener stands for a server and its wire protocol. Read next: `connection.ts` (bytes to calls),
 * `virtual-socket.ts` (the driver's socket) and `talks.ts` (clients that no server understands).
 */
import type { Json } from '../../core/kernel/json.ts';
import type { Caller, Port } from '../../core/world/port.ts';
import type { World } from '../../core/world/world.ts';
import type { Talk } from './talks.ts';

/** A wire protocol. Its texts are byte strings: each character is one byte. */
export interface WireProtocol<Q extends Json, R extends Json> {
  /** The request of the call `connect`. */
  readonly hello: Q;
  /**
   * Returns true if a client whose first bytes are `bytes` speaks this protocol. Returns null if
   * more bytes are needed.
   */
  speaks(bytes: string): boolean | null;
  /** Opens the session of one connection. `id` is unique in the run. */
  open(id: string): WireSession<Q, R>;
}

export interface WireSession<Q extends Json, R extends Json> {
  /** Returns the requests that are now complete, in order. Throws `NotUnderstood`. */
  decode(bytes: string): readonly Asked<Q, R>[];
  /** Encodes a reply. Called in request order, as a reply may change how later ones are encoded. */
  encode(reply: R): string;
  /** The request that waits for pushed messages, or null while the client expects none. */
  readonly listening: Q | null;
  /** The request that informs the server of a disconnect, or null if it need not know. */
  readonly farewell: Q | null;
}

/** A request that is a call to a server, or is answered at the client's end. */
export type Asked<Q extends Json, R extends Json> =
  | {
      readonly kind: 'call';
      readonly label: string;
      readonly request: Q;
      /** A reply to send to the client at once. The server's answer is then discarded. */
      readonly reply?: R;
      /** Set if the server closes the connection after its answer. */
      readonly isLast?: true;
    }
  | { readonly kind: 'edge'; readonly reply: R };

/** The network as seen by one process. */
export interface Uplink {
  readonly hosts: Hosts;
  readonly caller: Caller;
  /** Returns the number of the next connection, counted from 1. */
  takeNumber(): number;
  readonly talks: Talk[];
  nowUs(): number;
}

/** The client's end of a connection. */
export interface Remote {
  receive(bytes: string): void;
  /** Closes the connection with a code such as `ECONNRESET`, or null if the server ended it. */
  close(code: string | null): void;
}

/** The server's end of a connection. */
export interface Wire {
  /** Throws `NotUnderstood` if the bytes are not a request. */
  send(bytes: string): void;
  close(): void;
  /** True once the client has sent a request. */
  readonly isUnderstood: boolean;
}

/** Opens a connection for the caller. Resolves to an error code if it is refused. */
export type Listener = (
  caller: Caller,
  end: { id: string; remote: Remote },
) => Promise<Wire | string>;

export class Hosts {
  private readonly listeners: Map<string, Listener> = new Map();
  /** Name of the first server that listens, or null if there is none. */
  server: string | null = null;

  listen(address: string, listener: Listener, server = 'lock'): void {
    this.server ??= server;
    this.listeners.set(canonical(address), listener);
  }

  at(address: string): Listener | null {
    const normalized = canonical(address);
    return this.listeners.get(normalized) ?? this.listeners.get(this.named(normalized)) ?? null;
  }

  get addresses(): readonly string[] {
    return [...this.listeners.keys()];
  }

  /** Returns the IP address of a name, or null if there is no such host. */
  ipOf(name: string): string | null {
    const host = hostIn(canonical(`${name}:0`));
    if (host === LOCAL) return '127.0.0.1';
    const at = this.names.indexOf(host);
    return at === -1 ? null : `10.0.0.${at + 1}`;
  }

  /** Replaces a simulated IP address with the name of its host. */
  private named(address: string): string {
    const [, number, port] = /^10\.0\.0\.(\d+):(\d+)$/.exec(address) ?? [];
    return number === undefined ? address : `${this.names[Number(number) - 1] ?? ''}:${port ?? ''}`;
  }

  private get names(): readonly string[] {
    return [...new Set(this.addresses.map(hostIn))];
  }
}

const LOCAL = 'localhost';

/** Returns the address in lower case, with an IPv6 host in brackets: `[fd00::1]:6379`. */
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

/** Makes the listeners of `world` available in `other`, a second view of the same world. */
export function shareHosts(world: World, other: World): void {
  byWorld.set(other, hostsOf(world));
}

/** A server with its protocol and its port in the simulated network. */
export interface Served<Q extends Json, R extends Json> {
  readonly protocol: WireProtocol<Q, R>;
  readonly port: Port<Q, R>;
}
