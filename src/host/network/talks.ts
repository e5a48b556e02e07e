/**
 * Follows the connections of one process, and finds those that lead to a server which is not
 * simulated: no server listens at the address, the client sends what is no request of it, or it
 * waits for a server that speaks first, as clients of MySQL do. Such a run fails, with a message
 * that says what to do.
 *
 * A client that sends nothing may keep a connection for later. It counts as waiting only if no
 * connection of its process to the address ever carried a request, and then if it gave this one up,
 * or if its process waits for ever or got nothing done.
 */
import { SystemFailure } from '../../core/world/failure.ts';
import { NotUnderstood, quoteBytes, wayOutOf } from './other-protocols.ts';

/** Longer than a client that has connected takes to send its first bytes: most do so at once. */
const SILENT_US = 100_000;

/** More than a message shows. */
const KEPT_BYTES = 64;

/** Where a process connects to. */
interface Destination {
  /** `redis-1:6379`, or the path of a socket. */
  readonly address: string;
  /** Whether a server listens there. */
  readonly isServed: boolean;
  /** The addresses at which one does. */
  readonly hosts: readonly string[];
  /** Returns the place of the code that connects. */
  readonly leaver: () => { readonly text: string };
}

/** How a process fared at the end of its run. */
interface RunEnd {
  /** Its program has not come to its end. */
  readonly isBusy: boolean;
  /** How long it has called no server; infinite if nothing was left to happen. */
  readonly waitedUs: number;
}

export class Talks {
  readonly process: string;
  readonly nowUs: () => number;
  private talks: Talk[] = [];

  constructor(process: string, nowUs: () => number) {
    this.process = process;
    this.nowUs = nowUs;
  }

  begin(destination: Destination): Talk {
    const talk = new Talk(this, destination);
    this.talks.push(talk);
    return talk;
  }

  /** The process crashed: what it would have sent is not known. */
  crash(): void {
    this.talks = this.talks.filter(({ mayGoOn }) => !mayGoOn);
  }

  /** Returns why the run fails as it ends, or null. */
  failureAtEnd(end: RunEnd): SystemFailure | null {
    const understood = new Set(
      this.talks.filter(({ isUnderstood }) => isUnderstood).map(({ at }) => at.address),
    );
    const found = this.talks.find((talk) => talk.isUnheard(end, understood));
    return found === undefined ? null : found.failure(null);
  }
}

/** One connection. */
export class Talk {
  readonly at: Destination;
  private readonly talks: Talks;
  private connectedAtUs: number | null = null;
  /** When the client gave it up. */
  private abortedAtUs: number | null = null;
  private sent = '';
  isUnderstood = false;

  constructor(talks: Talks, at: Destination) {
    this.talks = talks;
    this.at = at;
  }

  get mayGoOn(): boolean {
    return this.at.isServed && !this.isUnderstood && this.abortedAtUs === null;
  }

  connect(): void {
    this.connectedAtUs = this.talks.nowUs();
  }

  noteSent(bytes: string, isUnderstood: boolean): void {
    if (this.sent.length < KEPT_BYTES) this.sent += bytes;
    this.isUnderstood = isUnderstood;
  }

  abort(): void {
    this.abortedAtUs ??= this.talks.nowUs();
  }

  /** Whether the client waited in vain; `understood` are the addresses where it was understood. */
  isUnheard({ isBusy, waitedUs }: RunEnd, understood: ReadonlySet<string>): boolean {
    const { connectedAtUs, abortedAtUs, at } = this;
    if (this.isUnderstood) return false;
    if (!at.isServed) return true;
    const isSilent = this.sent === '';
    if (connectedAtUs === null || (isSilent && understood.has(at.address))) return false;
    const openUs = (abortedAtUs ?? this.talks.nowUs()) - connectedAtUs;
    if (abortedAtUs !== null) return !isSilent || openUs >= SILENT_US;
    if (isBusy) return waitedUs >= SILENT_US;
    return !isSilent || (understood.size === 0 && openUs >= SILENT_US);
  }

  /** Why the run fails: what the client sent, or null at the end of the run. */
  failure(misunderstood: NotUnderstood | null): SystemFailure {
    const { process } = this.talks;
    const { address, isServed, hosts, leaver } = this.at;
    const { protocol, bytes } = misunderstood ?? new NotUnderstood(this.sent, null);
    const [does, reason] = wordsFor({ protocol, bytes, isServed });
    const listed = hosts.join(', ') || 'none';
    const where = isServed ? 'a simulated Redis listens' : `no server listens (hosts: ${listed})`;
    const wayOut = protocol === 'Redis' ? hostsHint(address) : wayOutOf(protocol);
    const facts = `${process} ${does} ${address}, where ${where}, at ${leaver().text}`;
    return new SystemFailure(process, `${facts}; ${reason}${wayOut}`, address);
  }
}

function wordsFor({
  protocol,
  bytes,
  isServed,
}: Pick<NotUnderstood, 'protocol' | 'bytes'> & Pick<Destination, 'isServed'>): readonly [
  does: string,
  reason: string,
] {
  if (protocol !== null) return [`speaks ${protocol} to`, ''];
  if (bytes !== '') return [`sends ${quoteBytes(bytes)} to`, 'that is no request of Redis; '];
  if (!isServed) return ['connects to', ''];
  const reason = 'a client of MySQL does so, and Redis never speaks first; ';
  return ['waits for the first word of', reason];
}

function hostsHint(address: string): string {
  return /:\d+$/.test(address)
    ? `name it in \`hosts\`: { ${address}: lock }`
    : '`hosts` takes addresses with a port';
}
