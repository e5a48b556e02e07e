/**
 * A store that goes by tokens as a server of the world: answers accesses, and tells the observer
 * what it did with each.
 */
import type { Refusal } from '../../core/history/server-events.ts';
import type { Boot, Server, Turn } from '../../core/world/server.ts';
import type { FenceRule } from './fence.ts';
import type { StoreReply, StoreRequest } from './request.ts';
import { Store, type StoreAnswer } from './store.ts';
import { StoreWitness } from './witness.ts';

export class StoreServer implements Server<StoreRequest, StoreReply> {
  private readonly store: Store;
  private readonly witness: StoreWitness;

  constructor(name: string, rule: FenceRule) {
    this.store = new Store(rule, { takesAnyToken: true });
    this.witness = new StoreWitness(name, (resource) => this.store.contents(resource));
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply {
    const highest = this.store.highest(request);
    if (request.kind === 'fence') return { kind: 'value', value: highest };
    const answer = this.answer(request);
    const refusal = this.whyRefused(request, answer);
    if (request.kind === 'read') this.witness.read(turn, { request, answer, refusal });
    else this.witness.write(turn, { request, answer, highest, refusal });
    return answer;
  }

  private whyRefused(request: StoreRequest, answer: StoreAnswer): Refusal | undefined {
    if (answer.kind !== 'refused') return undefined;
    const refusal = this.store.whyRefused(request);
    if (refusal !== null) return refusal;
    // A write says itself which token it was compared with.
    return request.kind === 'read' ? { kind: 'lower', highest: answer.highest } : undefined;
  }

  private answer(request: StoreRequest): StoreAnswer {
    if (request.kind === 'write') return this.store.write(request, request.value);
    return request.kind === 'open' ? this.store.open(request) : this.store.read(request);
  }

  restart(boot: Boot): void {
    this.store.crash();
    this.witness.restart(boot);
  }

  snapshot(): () => void {
    return this.store.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    return this.witness.evict(this.store.forget(key), boot);
  }
}
