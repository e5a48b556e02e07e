/** What the laws of sweeps on a queue need of a server on which queues are, whichever it is. */
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface QueueServer {
  /** On loopback. */
  readonly url: string;
  /** What on it has this text in its name or anywhere in it. */
  withText(text: string): Promise<readonly string[]>;
  /** Dies at once and comes back, with what it had kept or without. */
  restart(what: 'with its data' | 'without its data'): Promise<void>;
  end(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}
