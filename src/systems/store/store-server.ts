/**
 * A store that goes by tokens as a server of the world: answers accesses, and tells the observer
 * what it did with each.
 */
import type { Boot, Server, Turn } from '../../world/server.ts';
import type { FenceRule } from './fence.ts';
import type { StoreReply, StoreRequest } from './request.ts';
import { Store, type StoreAnswer } from './store.ts';
import { noteContents, noteRead, noteWrite } from './witness.ts';

export class StoreServer implements Server<StoreRequest, StoreReply> {
  private readonly name: string;
  private readonly store: Store;
  /** For the observer: every resource that it was ever asked for. */
  private readonly known: Set<string> = new Set();

  constructor(name: string, rule: FenceRule) {
    this.name = name;
    this.store = new Store(rule);
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply {
    const highest = this.store.highest(request);
    if (request.kind === 'fence') return { kind: 'value', value: highest };
    const answer = this.answer(request);
    this.known.add(request.resource);
    if (request.kind === 'read') noteRead(this.name, { request, answer }, turn);
    else noteWrite(this.name, turn, { request, answer, highest });
    return answer;
  }

  private answer(request: StoreRequest): StoreAnswer {
    if (request.kind === 'write') return this.store.write(request, request.value);
    return request.kind === 'open' ? this.store.open(request) : this.store.read(request);
  }

  restart(boot: Boot): void {
    this.store.crash();
    for (const resource of this.known) this.noteContents(resource, boot);
  }

  private noteContents(resource: string, boot: Boot): void {
    noteContents(this.name, { resource, ...this.store.contents(resource) }, boot);
  }

  snapshot(): () => void {
    return this.store.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    const forgetful = this.store.forget(key);
    for (const resource of forgetful) this.noteContents(resource, boot);
    return forgetful.length > 0;
  }
}
