/** A store as a server of the world: answers accesses, and tells the observer what it did with each. */
import type { Answer } from '../../history/trace.ts';
import type { Boot, Server, Turn } from '../../world/server.ts';
import type { FenceRule } from './fence.ts';
import { type Access, Store, type StoreAnswer } from './store.ts';

export type StoreRequest =
  | {
      readonly kind: 'write';
      readonly resource: string;
      readonly key: string;
      readonly value: number;
      readonly token: number;
      readonly sequence: number;
    }
  | {
      readonly kind: 'read' | 'open';
      readonly resource: string;
      readonly key: string;
      readonly token: number;
      readonly sequence: number;
    };

export type StoreReply = StoreAnswer;

/** What the trace says of a reply. */
export function describeStoreReply(reply: StoreReply): Answer {
  return reply;
}

export class StoreServer implements Server<StoreRequest, StoreReply> {
  private readonly name: string;
  private readonly store: Store;

  constructor(name: string, rule: FenceRule) {
    this.name = name;
    this.store = new Store(rule);
  }

  handle(request: StoreRequest, turn: Turn): StoreReply {
    const access: Access = request;
    const highest = this.store.highest(access);
    const answer = this.answer(request, access);
    const { resource, key, token } = access;
    const seen = {
      ...{ atUs: turn.atUs, process: this.name, resource, key, token, under: turn.under },
      ...{ client: turn.client, operation: turn.operation, issue: turn.issue },
      ...{ isAccepted: answer.kind !== 'refused', message: turn.message },
    };
    if (request.kind === 'read') {
      turn.observe({ kind: 'read', ...seen, value: answer.kind === 'value' ? answer.value : null });
    } else {
      const value = request.kind === 'write' ? request.value : null;
      turn.observe({ kind: 'write', ...seen, value, highest, adds: turn.adds });
    }
    return answer;
  }

  private answer(request: StoreRequest, access: Access): StoreAnswer {
    switch (request.kind) {
      case 'write':
        return this.store.write(access, request.value);
      case 'read':
        return this.store.read(access);
      case 'open':
        return this.store.open(access);
    }
  }

  restart(boot: Boot): void {
    this.store.crash();
    for (const { resource, highest, values } of this.store.contents()) {
      boot.observe({
        kind: 'recovered',
        atUs: boot.atUs,
        process: this.name,
        resource,
        highest,
        values: Object.fromEntries(values),
      });
    }
  }

  snapshot(): () => void {
    return this.store.snapshot();
  }

  evict(key: string): boolean {
    return this.store.forget(key);
  }
}
