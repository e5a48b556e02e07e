/**
 * Finds connections to a server that is not simulated: no server listens at the address, the client
 * sends what is no request of it, or it waits for a server that speaks first, as clients of MySQL
 * do. Such a run fails, with a message that says what to do.
 *
 * A client that sends nothing may keep a connection for later. It counts as waiting only if no
 * connection of its process to the address ever carried a request, and then if it gave this one up,
 * or if its process waits for ever or got nothing done.
 */
import { SystemFailure } from '../../core/world/failure.ts';
import { NotUnderstood, quoteBytes, wayOutOf } from './other-protocols.ts';

/** Longer than a client that has connected takes to send its first bytes: most do so at once. */
const SILENT_US = 100_000;

/** One connection, from the client's side. */
export interface Talk {
  /** `redis-1:6379`, or the path of a socket. */
  readonly address: string;
  /** The addresses of servers; null if one listens at this address. */
  readonly others: readonly string[] | null;
  /** The name of a server of the scenario. */
  readonly server: string;
  /** Returns the place of the code that connects. */
  readonly place: () => string;
  /** Counts it as not simulated, with what its client speaks; null if that is unknown. */
  readonly noteUnsimulated: (protocol: string | null) => void;
  readonly connectedAtUs: number | null;
  /** When the client gave it up, or null. */
  readonly abortedAtUs: number | null;
  /** What the client has sent, or the first of it. */
  readonly sent: string;
  /** Whether that was a request. */
  readonly isUnderstood: boolean;
}

/** How a process fared at the end of its run. */
interface RunEnd {
  /** Its program has not come to its end. */
  readonly isBusy: boolean;
  /** How long it has called no server; infinite if nothing was left to happen. */
  readonly waitedUs: number;
  readonly nowUs: number;
}

/** Returns the first connection on which the client waited in vain for a server, if any. */
export function unheardIn(
  talks: readonly Talk[],
  { isBusy, waitedUs, nowUs }: RunEnd,
): Talk | undefined {
  const heard = talks.filter(({ isUnderstood }) => isUnderstood).map(({ address }) => address);
  return talks.find(({ address, others, connectedAtUs, abortedAtUs, sent, isUnderstood }) => {
    if (isUnderstood) return false;
    if (others !== null) return true;
    const isSilent = sent === '';
    if (connectedAtUs === null || (isSilent && heard.includes(address))) return false;
    if (isBusy && abortedAtUs === null) return waitedUs >= SILENT_US;
    const isLong = (abortedAtUs ?? nowUs) - connectedAtUs >= SILENT_US;
    return !isSilent || (isLong && (abortedAtUs !== null || heard.length === 0));
  });
}

/** Why the run of `process` fails; `misunderstood` is what the client sent, if it sent anything. */
export function failureOf(
  process: string,
  { address, others, server, place, sent }: Talk,
  misunderstood: NotUnderstood = new NotUnderstood(sent, null),
): SystemFailure {
  const { protocol, bytes } = misunderstood;
  let does = 'waits for the first word of';
  let reason = 'a client of MySQL does so, and Redis never speaks first; ';
  if (protocol !== null) [does, reason] = [`speaks ${protocol} to`, ''];
  else if (bytes !== '') [does, reason] = [`sends ${quoteBytes(bytes)} to`, 'that is no request; '];
  else if (others !== null) [does, reason] = ['connects to', ''];
  const listed = others?.join(', ') || 'none';
  const where =
    others === null ? 'a simulated Redis listens' : `no server listens (hosts: ${listed})`;
  // With quotes it is both YAML and TypeScript, for the options of a test.
  const entry = `'${address}': '${server}'`;
  const added = listed === 'none' ? `\`hosts: { ${entry} }\`` : `\`${entry}\` to \`hosts\``;
  const hint = /:\d+$/.test(address)
    ? `add ${added} in the scenario`
    : '`hosts` takes addresses with a port';
  const isSilent = protocol === null && bytes === '' && others !== null;
  const guess = `if that is a Redis, ${hint}; no other server is simulated`;
  const wayOut = protocol === 'Redis' ? hint : isSilent ? guess : wayOutOf(protocol);
  const facts = `${process} ${does} ${address}, where ${where}, at ${place()}`;
  return new SystemFailure(process, `${facts}; ${reason}${wayOut}`, address);
}
