/**
 * Sockets and name lookup for simulated processes. `net.Socket#connect` opens a connection to the
 * listener at the given address of the world. All drivers connect by this method, so they keep a
 * real `net.Socket`. `tls` returns the same socket, marked as secure. `dns` resolves the hosts of
 * the world.
 */
import { Buffer } from 'node:buffer';
import dns from 'node:dns';
import net from 'node:net';
import { constants } from 'node:os';
import process from 'node:process';
import tls from 'node:tls';
import { ambient, type CurrentProcess, noteImpure } from '../async/ambient.ts';
import { contextNow, type InContext } from '../async/async-context.ts';
import { type CallSite, deepSiteOf } from '../async/call-site.ts';
import { callerText } from '../async/forbidden-apis.ts';
import { type AnyFunction, isFunction, type Patches } from '../async/patches.ts';
import { inNoSection } from '../async/section-context.ts';
import type { VirtualTimer } from '../async/timers.ts';
import { listensNowhere } from './connection.ts';
import type { Remote, Uplink, Wire } from './hosts.ts';
import { NotUnderstood } from './other-protocols.ts';
import { failureOf, type Talk } from './talks.ts';

export function patchNetwork(patches: Patches): void {
  const { connect, setTimeout: setReal } = net.Socket.prototype;
  patches.set(
    net.Socket.prototype,
    'connect',
    function virtual(this: net.Socket, ...args: unknown[]) {
      const { current } = ambient;
      return current === null
        ? Reflect.apply(connect, this, args)
        : open(this, placeIn(args), current);
    },
  );
  patches.set(
    net.Socket.prototype,
    'setTimeout',
    function virtual(this: net.Socket, ...args: unknown[]) {
      const { current } = ambient;
      return current === null ? Reflect.apply(setReal, this, args) : setIdle(this, args, current);
    },
  );
  patchTls(patches);
  patchLookup(patches);
}

interface Place {
  readonly address: string;
  readonly host: string;
  readonly port: number;
  readonly whenOpen: AnyFunction | null;
}

/** Parses `(options, done)`, `(port, host, done)`, `(path, done)`, or an array of these. */
function placeIn(args: readonly unknown[]): Place {
  const list: readonly unknown[] = Array.isArray(args[0]) ? args[0] : args;
  const [first, second] = list;
  const whenOpen = list.find(isFunction) ?? null;
  const options = typeof first === 'object' && first !== null ? first : {};
  const isPath = typeof first === 'string' && !/^\d+$/.test(first);
  const named = isPath ? first : undefined;
  const path = 'path' in options ? options.path : named;
  if (typeof path === 'string') return { address: path, host: path, port: 0, whenOpen };
  const host = 'host' in options ? options.host : second;
  const port = Number('port' in options ? options.port : first);
  const name = typeof host === 'string' && host !== '' ? host : 'localhost';
  return { address: `${name}:${port}`, host: name, port, whenOpen };
}

function open(socket: net.Socket, place: Place, current: CurrentProcess): net.Socket {
  noteImpure();
  if (place.whenOpen !== null) socket.once('connect', place.whenOpen);
  const { network } = current;
  Reflect.set(socket, 'connecting', true);
  const line = new Line(socket, place, current);
  if (network === null) return socket; // without a network it never connects
  network.talks.push(line);
  const id = `${current.name}/${network.takeNumber()}`;
  const listener = network.hosts.at(place.address) ?? listensNowhere;
  inNoSection(() => {
    void listener(network.caller, { id, remote: line }).then((wire) => line.whenAnswered(wire));
  });
  return socket;
}

/** The virtual side of a socket: receives its writes and supplies its reads. */
class Line implements Remote, Talk {
  readonly address: string;
  readonly others: readonly string[] | null;
  readonly server: string;
  readonly place: () => string;
  private readonly site: CallSite;
  connectedAtUs: number | null = null;
  abortedAtUs: number | null = null;
  sent = '';
  isUnderstood = false;
  private readonly socket: net.Socket;
  private readonly at: Place;
  private readonly client: CurrentProcess;
  private readonly inContext: InContext = inNoSection(() => contextNow('TCPWRAP'));
  private wire: Wire | null = null;
  /** True if the client or the server has ended the connection. */
  private hasEnded = false;
  /** The write that waits until the socket is connected. */
  private held: (() => void) | null = null;
  private isWriting = false;
  /** Replies that arrive during a write. A socket has no data before `write` returns. */
  private early = '';

  constructor(socket: net.Socket, at: Place, client: CurrentProcess) {
    const { hosts } = client.network ?? {};
    this.address = at.address;
    this.others = hosts?.at(at.address) === null ? hosts.addresses : null;
    this.server = hosts?.server ?? 'lock';
    this.site = deepSiteOf(open);
    this.place = () => callerText(this.site);
    this.socket = socket;
    this.at = at;
    this.client = client;
    this.takeOver();
  }

  /** Overrides the methods of the socket that use the operating system. */
  private takeOver(): void {
    const { socket } = this;
    const same = (): net.Socket => socket;
    const { host, port } = this.at;
    Object.assign(socket, {
      _read: () => {},
      _write: (chunk: unknown, encoding: BufferEncoding, done: () => void) =>
        this.write([{ chunk, encoding }], done),
      _writev: (chunks: readonly Chunk[], done: () => void) => this.write(chunks, done),
      _final: (done: () => void) => this.finish(done),
      _destroy: (error: Error | null, done: (error: Error | null) => void) =>
        this.destroy(error, done),
      setNoDelay: same,
      setKeepAlive: same,
      ref: same,
      unref: same,
      address: () => ({ address: '10.0.0.254', family: 'IPv4', port: 40_000 }),
    });
    const shown = {
      pending: () => socket.connecting,
      readyState: () => (socket.connecting ? 'opening' : socket.destroyed ? 'closed' : 'open'),
      remoteAddress: () => host,
      remotePort: () => port,
      remoteFamily: () => 'IPv4',
    };
    for (const [key, get] of Object.entries(shown)) {
      Object.defineProperty(socket, key, { get, configurable: true });
    }
  }

  whenAnswered(wire: Wire | string): void {
    this.inContext(() => this.goOn(wire));
  }

  private goOn(wire: Wire | string): void {
    const { socket } = this;
    if (socket.destroyed) {
      if (typeof wire !== 'string') wire.close();
      return;
    }
    if (typeof wire === 'string') {
      this.close(wire);
      return;
    }
    this.wire = wire;
    this.connectedAtUs = this.nowUs;
    Reflect.set(socket, 'connecting', false);
    touch(socket);
    socket.emit('connect');
    socket.emit('ready');
    this.held?.();
    this.held = null;
    if (!socket.destroyed) socket.read(0);
  }

  private write(chunks: readonly Chunk[], done: () => void): void {
    const { wire, client } = this;
    if (wire === null) {
      this.held = () => this.write(chunks, done);
      return;
    }
    touch(this.socket);
    const bytes = chunks.map(latin1Of).join('');
    if (!this.isUnderstood) this.sent += bytes;
    this.isWriting = true;
    try {
      wire.send(bytes);
    } catch (error) {
      if (!(error instanceof NotUnderstood)) throw error;
      this.noteUnsimulated(error.protocol);
      client.fail(failureOf(client.name, this, error));
    } finally {
      this.isWriting = false;
    }
    this.isUnderstood = wire.isUnderstood;
    done();
  }

  noteUnsimulated(protocol: string | null): void {
    const isNamed = this.others === null;
    const server = protocol ?? (isNamed ? 'a server' : null);
    const peer = server === null ? `the address ${this.address}` : `${server} at ${this.address}`;
    this.client.noteUnsimulated({ kind: 'protocol', what: peer }, this.site);
  }

  private get nowUs(): number {
    return this.client.network?.nowUs() ?? 0;
  }

  private finish(done: () => void): void {
    this.hasEnded = true;
    done();
    // The server closes its end as well.
    process.nextTick(() => this.close(null));
  }

  private destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { socket } = this;
    Reflect.set(socket, 'connecting', false);
    idles.get(socket)?.timer?.close();
    if (!this.hasEnded) this.abortedAtUs = this.nowUs;
    this.wire?.close();
    this.wire = null;
    done(error);
    process.nextTick(() => socket.emit('close', error !== null));
  }

  receive(bytes: string): void {
    if (this.socket.destroyed) return;
    touch(this.socket);
    if (!this.isWriting && this.early === '') {
      this.inContext(() => this.socket.push(Buffer.from(bytes, 'latin1')));
      return;
    }
    if (this.early === '') process.nextTick(() => this.inContext(() => this.catchUp()));
    this.early += bytes;
  }

  private catchUp(): void {
    const { early, socket } = this;
    this.early = '';
    if (early !== '' && !socket.destroyed) socket.push(Buffer.from(early, 'latin1'));
  }

  close(code: string | null): void {
    const { socket, at } = this;
    if (socket.destroyed) return;
    this.catchUp();
    this.hasEnded = true;
    this.inContext(() => {
      if (code === null) socket.push(null);
      else socket.destroy(errorOf(code, at));
    });
  }
}

/** Returns the error that Node would create. Only errors while connecting include the address. */
function errorOf(code: string, { address, host, port }: Place): Error {
  const isReset = code === 'ECONNRESET';
  const syscall = isReset ? 'read' : 'connect';
  const error = new Error(`${syscall} ${code}${isReset ? '' : ` ${address}`}`);
  const errno = -Number(Reflect.get(constants.errno, code));
  return Object.assign(error, {
    errno,
    code,
    syscall,
    ...(isReset ? {} : { address: host, ...(port > 0 ? { port } : {}) }),
  });
}

interface Chunk {
  readonly chunk: unknown;
  readonly encoding: BufferEncoding;
}

function latin1Of({ chunk, encoding }: Chunk): string {
  if (typeof chunk === 'string') return Buffer.from(chunk, encoding).toString('latin1');
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString('latin1') : '';
}

interface Idle {
  readonly timeoutMs: number;
  readonly timer: VirtualTimer | null;
}

const idles: WeakMap<net.Socket, Idle> = new WeakMap();

/** Implements `socket.setTimeout(ms, done)` with the clock of the process. */
function setIdle(
  socket: net.Socket,
  [timeout, done]: readonly unknown[],
  current: CurrentProcess,
): net.Socket {
  const timeoutMs = Number(timeout);
  if (isFunction(done)) {
    if (timeoutMs === 0) socket.removeListener('timeout', done);
    else socket.once('timeout', done);
  }
  idles.get(socket)?.timer?.close();
  const callback = (): void => void socket.emit('timeout');
  const timer =
    timeoutMs > 0
      ? current.setTimer({ kind: 'timeout', delayMs: timeoutMs, callback }).unref()
      : null;
  idles.set(socket, { timeoutMs, timer });
  Reflect.set(socket, 'timeout', timeoutMs);
  return socket;
}

function touch(socket: net.Socket): void {
  idles.get(socket)?.timer?.refresh();
}

/** Returns a plain socket, because certificates do not affect a lock. */
function patchTls(patches: Patches): void {
  const { connect } = tls;
  patches.set(tls, 'connect', (...args: unknown[]) => {
    if (ambient.current === null) return Reflect.apply(connect, tls, args);
    const options = args.find((value) => typeof value === 'object' && value !== null) ?? {};
    const under: unknown = Reflect.get(options, 'socket');
    const done = args.find(isFunction);
    const others = args.filter((value) => value !== done);
    const socket = under instanceof net.Socket ? under : new net.Socket();
    Object.assign(socket, {
      encrypted: true,
      authorized: true,
      authorizationError: null,
      alpnProtocol: false,
      getPeerCertificate: () => ({}),
      getProtocol: () => 'TLSv1.3',
    });
    const secured = (): void => void socket.emit('secureConnect');
    if (done !== undefined) socket.once('secureConnect', done);
    if (under instanceof net.Socket && !under.connecting) process.nextTick(secured);
    else socket.once('connect', secured);
    if (socket !== under) Reflect.apply(socket.connect, socket, others);
    return socket;
  });
}

type Answer = { readonly address: string; readonly family: number };

function patchLookup(patches: Patches): void {
  const { lookup } = dns;
  const { lookup: lookupLater } = dns.promises;
  patches.set(dns, 'lookup', (...args: unknown[]) => {
    const { current } = ambient;
    const done = args.find(isFunction);
    if (current === null || done === undefined) return Reflect.apply(lookup, dns, args);
    noteImpure();
    const { network } = current;
    if (network === null) return {}; // without a network it is never answered
    const [name, options] = args;
    const found = answerFor(String(name), network, current);
    process.nextTick(() => {
      if (found instanceof Error) done(found);
      else if (wantsAll(options)) done(null, [found]);
      else done(null, found.address, found.family);
    });
    return {};
  });
  patches.set(dns.promises, 'lookup', async (...args: unknown[]) => {
    const { current } = ambient;
    if (current === null) return await Reflect.apply(lookupLater, dns.promises, args);
    noteImpure();
    const { network } = current;
    if (network === null) return await new Promise(() => {});
    const [name, options] = args;
    const found = answerFor(String(name), network, current);
    if (found instanceof Error) throw found;
    return wantsAll(options) ? [found] : found;
  });
}

function wantsAll(options: unknown): boolean {
  return typeof options === 'object' && options !== null && Reflect.get(options, 'all') === true;
}

function answerFor(name: string, { hosts }: Uplink, current: CurrentProcess): Answer | Error {
  const address = net.isIP(name) === 0 ? hosts.ipOf(name) : name;
  if (address !== null) return { address, family: net.isIP(address) };
  const description = `the host ${name}`;
  current.noteUnsimulated({ kind: 'protocol', what: description }, deepSiteOf(answerFor));
  const error = new Error(`getaddrinfo ENOTFOUND ${name}`);
  return Object.assign(error, {
    code: 'ENOTFOUND',
    errno: -3008,
    syscall: 'getaddrinfo',
    hostname: name,
  });
}
