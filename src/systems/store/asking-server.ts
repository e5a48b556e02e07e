/**
 * A store that compares nothing itself: before each write it asks the lock service whether the
 * write's token is that of a lease which still runs, and refuses what it cannot verify. Chubby's
 * sequencers are checked so. What the answer says may be over by the time that it arrives.
 */
import { type Boot, LATER, type Server, type Turn } from '../../world/server.ts';
import type { CheckToken } from '../protocol.ts';
import type { StoreReply, StoreRequest } from './request.ts';
import { MemoryTable } from './version-table.ts';
import { noteContents, noteRead, noteWrite } from './witness.ts';

type WriteRequest = Extract<StoreRequest, { kind: 'write' }>;

export class AskingServer implements Server<StoreRequest, StoreReply> {
  private readonly name: string;
  private readonly check: CheckToken;
  private readonly table: MemoryTable = new MemoryTable();
  /** For the observer: every resource that it was ever asked for. */
  private readonly known: Set<string> = new Set();

  constructor(name: string, check: CheckToken) {
    this.name = name;
    this.check = check;
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply | typeof LATER {
    this.known.add(request.resource);
    if (request.kind === 'write') {
      const { resource: lock, token } = request;
      this.check(turn, { lock, token }, (isCurrent, atUs) =>
        this.finish(turn, { request, isCurrent: isCurrent === true, atUs }),
      );
      return LATER;
    }
    if (request.kind !== 'read') return { kind: 'accepted' };
    const { value } = this.table.find(request);
    const answer = { kind: 'value', value } as const;
    noteRead(this.name, { request, answer }, turn);
    return answer;
  }

  /** The write is applied, or refused, now that its token is known to be right or not. */
  private finish(
    turn: Turn<StoreReply>,
    checked: { readonly request: WriteRequest; readonly isCurrent: boolean; readonly atUs: number },
  ): void {
    const { request, isCurrent, atUs } = checked;
    const { resource, key, value } = request;
    const cell = { resource, key };
    if (isCurrent) this.table.commit({ cell, value, stamp: 0, expected: null, once: null });
    const answer: StoreReply = isCurrent ? { kind: 'accepted' } : { kind: 'refused', highest: 0 };
    noteWrite(this.name, turn, { request, answer, highest: 0, atUs });
    turn.answer(answer);
  }

  restart(boot: Boot): void {
    for (const resource of this.known) this.noteContents(resource, boot);
  }

  private noteContents(resource: string, boot: Boot): void {
    const values = this.table.contents(resource);
    noteContents(this.name, { resource, highest: 0, values }, boot);
  }

  snapshot(): () => void {
    return this.table.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    const forgetful = this.table.forget(key);
    for (const resource of forgetful) this.noteContents(resource, boot);
    return forgetful.length > 0;
  }
}
