/** Pairs the calls of a lock's clients: each grant with the release that follows it. */
import type { History, Operation } from '../operation.ts';
import type { PairedLockCall } from './paired-lock.ts';

/** From a grant to its release. Indices are those of the history. */
export interface Section {
  readonly acquire: number;
  readonly invoke: number;
  readonly return: number;
  /** The place of the grant in the order of returns. */
  readonly place: number;
  readonly token: number | null;
  /** -1 when it was never called; then all about it is infinite. */
  readonly release: number;
  readonly releaseInvoke: number;
  readonly releaseReturn: number;
  readonly releasePlace: number;
}

export interface LockPairs {
  /** In the order of the returns of their grants. */
  readonly sections: readonly Section[];
  /** Acquires without an answer. */
  readonly crashed: readonly number[];
  /** Denied acquires in the order of their returns: index and place. */
  readonly denied: readonly { readonly index: number; readonly place: number }[];
}

const forever = Number.POSITIVE_INFINITY;

/** What a client did last that was not a denied acquire. */
interface Client {
  phase: 'idle' | 'holds' | 'crashed';
  section: number;
  return: number;
}

/** Null when some client's calls are not in pairs, one after the other, what crashed being last. */
export function pairLockCalls(
  history: History<PairedLockCall>,
  answered: readonly number[],
): LockPairs | null {
  const clients = new Map<string, Client>();
  const sections: Section[] = [];
  const denied: { index: number; place: number }[] = [];
  const crashed: number[] = [];
  for (const [place, index] of answered.entries()) {
    const operation = history[index];
    if (operation === undefined) return null;
    const { call } = operation;
    const end = operation.return ?? forever;
    if (call.name === 'acquire' && call.answer === 'denied') {
      denied.push({ index, place });
      continue;
    }
    const client = clientOf(clients, call.owner);
    if (operation.invoke <= client.return) return null;
    client.return = end;
    if (call.answer === 'granted' && client.phase === 'idle') {
      client.phase = 'holds';
      client.section = sections.length;
      sections.push(openSection(operation, index, place));
    } else if (call.answer === 'released' && client.phase === 'holds') {
      client.phase = 'idle';
      const section = sections[client.section];
      if (section === undefined) return null;
      sections[client.section] = closeSection(section, operation, index, place);
    } else return null;
  }
  for (const [index, operation] of history.entries()) {
    const { call, outcome, invoke } = operation;
    if (outcome !== 'info' || call.answer === 'denied') continue;
    const client = clientOf(clients, call.owner);
    if (client.phase === 'crashed' || invoke <= client.return) return null;
    if ((call.name === 'release') !== (client.phase === 'holds')) return null;
    client.phase = 'crashed';
    const section = sections[client.section];
    if (call.name === 'acquire') crashed.push(index);
    else if (section === undefined) return null;
    else sections[client.section] = closeSection(section, operation, index, forever);
  }
  return { sections, crashed, denied };
}

function clientOf(clients: Map<string, Client>, owner: string): Client {
  const known = clients.get(owner);
  if (known !== undefined) return known;
  const client: Client = { phase: 'idle', section: -1, return: Number.NEGATIVE_INFINITY };
  clients.set(owner, client);
  return client;
}

function openSection(
  operation: Operation<PairedLockCall>,
  acquire: number,
  place: number,
): Section {
  return {
    acquire,
    invoke: operation.invoke,
    return: operation.return ?? forever,
    place,
    token: tokenOf(operation.call),
    release: -1,
    releaseInvoke: forever,
    releaseReturn: forever,
    releasePlace: forever,
  };
}

function closeSection(
  section: Section,
  operation: Operation<PairedLockCall>,
  release: number,
  releasePlace: number,
): Section {
  const releaseReturn = releasePlace === forever ? forever : (operation.return ?? forever);
  return { ...section, release, releaseInvoke: operation.invoke, releaseReturn, releasePlace };
}

/** Null when the lock gives none, or nobody saw it. */
export function tokenOf(call: PairedLockCall): number | null {
  return call.name === 'acquire' ? (call.token ?? null) : null;
}
