/**
 * Finds connections to servers that are not simulated. Either no server listens at the address, or
 * the client sends no valid request, or it waits for the server to speak first, as in MySQL. The
 * run fails with a message that includes the remedy.
 *
 * A silent client may keep a connection for later. It counts as waiting only if no connection from
 * its process to the address ever carried a request. In addition, the client must have closed this
 * connection, or its process must wait forever or never have sent a request to any server.
 */
import { SystemFailure } from '../../core/world/failure.ts';
import { NotUnderstood, quoteBytes, wayOutOf } from './other-protocols.ts';

/** Longer than clients take to send their first bytes after connecting. */
const SILENT_US = 100_000;

/** One connection, from the client's view. */
export interface Talk {
  /** `redis-1:6379`, or the path of a socket. */
  readonly address: string;
  /** The known addresses, or null if a server listens at `address`. */
  readonly others: readonly string[] | null;
  /** Name of a server of the scenario. */
  readonly server: string;
  /** Returns the place of the code that connects. */
  readonly place: () => string;
  /** Counts the connection as not simulated. `protocol` is null if unknown. */
  readonly noteUnsimulated: (protocol: string | null) => void;
  readonly connectedAtUs: number | null;
  /** Time at which the client gave up the connection, or null. */
  readonly abortedAtUs: number | null;
  /** The first bytes that the client has sent, or all of them. */
  readonly sent: string;
  /** True if these bytes formed a request. */
  readonly isUnderstood: boolean;
}

interface RunEnd {
  /** True if the program has not ended. */
  readonly isBusy: boolean;
  /** Time since the last call to a server; infinite if no event was left. */
  readonly waitedUs: number;
  readonly nowUs: number;
}

/** Returns the first connection on which the client waited for a server in vain, if any. */
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

/** Returns the failure of a run of `process`. `misunderstood` contains the client's bytes. */
export function failureOf(
  process: string,
  { address, others, server, place, sent }: Talk,
  misunderstood: NotUnderstood = new NotUnderstood(sent, null),
): SystemFailure {
  const { protocol, bytes } = misunderstood;
  let does = 'waits for a greeting from';
  let reason = 'MySQL clients do so, but Redis never sends first; ';
  if (protocol !== null) [does, reason] = [`speaks ${protocol} to`, ''];
  else if (bytes !== '')
    [does, reason] = [`sends ${quoteBytes(bytes)} to`, 'that is not a request; '];
  else if (others !== null) [does, reason] = ['connects to', ''];
  const listed = others?.join(', ') || 'none';
  const where =
    others === null ? 'a simulated Redis listens' : `no server listens (hosts: ${listed})`;
  // The quotes make the entry valid in YAML and in TypeScript.
  const entry = `'${address}': '${server}'`;
  const added = listed === 'none' ? `\`hosts: { ${entry} }\`` : `\`${entry}\` to \`hosts\``;
  const hint = /:\d+$/.test(address)
    ? `add ${added} in the scenario`
    : '`hosts` accepts only addresses with a port';
  const isSilent = protocol === null && bytes === '' && others !== null;
  const guess = `if that is a Redis, ${hint}; no other server is simulated`;
  const wayOut = protocol === 'Redis' ? hint : isSilent ? guess : wayOutOf(protocol);
  const facts = `${process} ${does} ${address}, where ${where}, at ${place()}`;
  return new SystemFailure(process, `${facts}; ${reason}${wayOut}`, address);
}
