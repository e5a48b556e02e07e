/** Builds the events of handwritten traces: complete acquisitions and writes with all messages. */
import type { TraceEvent } from '../core/history/events.ts';

export type Link = { readonly from: string; readonly to: string; readonly message: string };

export const MS: number = 1000;

export function send(atMs: number, link: Link): TraceEvent {
  return { kind: 'send', atUs: atMs * MS, ...link, body: null };
}

export function receive(atMs: number, link: Link, isCopy = false): TraceEvent {
  return { kind: 'receive', atUs: atMs * MS, ...link, isCopy };
}

export function request(from: string, to: string, operation: string): Link {
  return { from, to, message: `${operation}/1/request` };
}

function reply(from: string, to: string, operation: string): Link {
  return { from, to, message: `${operation}/1/reply` };
}

/** A client requests a lock at `atMs`. The grant is at `atMs + 1`, the entry at `atMs + 2`. */
export function acquires(client: string, ordinal: number, atMs: number): TraceEvent[] {
  const operation = `${client}/1/acquire`;
  const toLock = request(client, 'lock', operation);
  const fromLock = reply('lock', client, operation);
  const atUs = (atMs + 1) * MS;
  const whose = { lock: 'db', ordinal, token: ordinal };
  return [
    {
      kind: 'invoke',
      atUs: atMs * MS,
      process: client,
      operation,
      call: { verb: 'acquire', lock: 'db', token: 0 },
    },
    send(atMs, toLock),
    receive(atMs + 1, toLock),
    {
      kind: 'grant',
      atUs,
      process: 'lock',
      client,
      ...whose,
      ttlUs: 10 * MS,
      sentAtUs: atMs * MS,
      untilUs: atUs + 10 * MS,
      message: toLock.message,
    },
    send(atMs + 1, fromLock),
    receive(atMs + 2, fromLock),
    {
      kind: 'return',
      atUs: atUs + MS,
      process: client,
      operation,
      outcome: 'ok',
      answer: { kind: 'granted', token: ordinal },
    },
    {
      kind: 'enter',
      atUs: atUs + MS,
      process: client,
      section: `${client}/1`,
      ...whose,
      believedUntilUs: (atMs + 10) * MS,
    },
  ];
}

export interface WriteStory {
  readonly client: string;
  readonly ordinal: number;
  readonly atMs: number;
  readonly isAccepted: boolean;
  readonly highest: number;
}

/** A client writes its grant number to `x` at `atMs`. The store handles the write 1 ms later. */
export function writes(story: WriteStory): TraceEvent[] {
  const { client, ordinal, atMs, isAccepted, highest } = story;
  const operation = `${client}/1/write`;
  const toStore = request(client, 'store', operation);
  const fromStore = reply('store', client, operation);
  const what = { resource: 'db', key: 'x', value: ordinal, token: ordinal, adds: null };
  return [
    {
      kind: 'invoke',
      atUs: atMs * MS,
      process: client,
      operation,
      call: { verb: 'write', store: 'store', ...what },
    },
    send(atMs, toStore),
    receive(atMs + 1, toStore),
    {
      kind: 'write',
      atUs: (atMs + 1) * MS,
      process: 'store',
      ...what,
      under: ordinal,
      client,
      operation,
      issue: 1,
      isAccepted,
      highest,
      message: toStore.message,
    },
    send(atMs + 1, fromStore),
    receive(atMs + 2, fromStore),
    {
      kind: 'return',
      atUs: (atMs + 2) * MS,
      process: client,
      operation,
      outcome: 'ok',
      answer: isAccepted ? { kind: 'accepted' } : { kind: 'refused', highest },
    },
    {
      kind: 'leave',
      atUs: (atMs + 2) * MS,
      process: client,
      section: `${client}/1`,
      lock: 'db',
      ordinal,
    },
  ];
}
