/**
 * A store that compares nothing itself: before each write it asks the lock service whether the
 * write's token is that of a lease which still runs, and refuses what it cannot verify. Chubby's
 * sequencers are checked so. What the answer says may be over by the time that it arrives.
 */
import type { Refusal } from '../../core/history/server-events.ts';
import { type Boot, LATER, type Server, type Turn } from '../../core/world/server.ts';
import type { CheckToken } from '../protocol.ts';
import type { StoreReply, StoreRequest } from './request.ts';
import { MemoryTable } from './version-table.ts';
import { StoreWitness } from './witness.ts';

type WriteRequest = Extract<StoreRequest, { kind: 'write' }>;

export class AskingServer implements Server<StoreRequest, StoreReply> {
  private readonly check: CheckToken;
  private readonly table: MemoryTable = new MemoryTable();
  private readonly witness: StoreWitness;

  constructor(name: string, check: CheckToken) {
    this.check = check;
    this.witness = new StoreWitness(name, (resource) => ({
      highest: 0,
      values: this.table.contents(resource),
    }));
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply | typeof LATER {
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
    this.witness.read(turn, { request, answer });
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
    if (isCurrent) this.table.commit({ cell, value, adds: null, stamp: 0, once: null });
    const answer: StoreReply = isCurrent ? { kind: 'accepted' } : { kind: 'refused', highest: 0 };
    const refusal: Refusal | undefined = isCurrent ? undefined : { kind: 'lease' };
    this.witness.write(turn, { request, answer, atUs, refusal });
    turn.answer(answer);
  }

  restart(boot: Boot): void {
    this.witness.restart(boot);
  }

  snapshot(): () => void {
    return this.table.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    return this.witness.evict(this.table.forget(key), boot);
  }
}
