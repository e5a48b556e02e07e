/**
 * A store as a server of the world: answers accesses, and tells the observer what it did with each.
 */
import type { Answer } from '../../history/trace.ts';
import type { Boot, Server, Turn } from '../../world/server.ts';
import type { FenceRule } from './fence.ts';
import { Store, type StoreAnswer } from './store.ts';

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
  /** For the observer: every resource that it was ever asked for. */
  private readonly known: Set<string> = new Set();

  constructor(name: string, rule: FenceRule) {
    this.name = name;
    this.store = new Store(rule);
  }

  handle(request: StoreRequest, turn: Turn): StoreReply {
    const highest = this.store.highest(request);
    const answer = this.answer(request);
    this.known.add(request.resource);
    if (request.kind === 'read') this.observeRead(request, answer, turn);
    else this.observeWrite(request, { answer, highest }, turn);
    return answer;
  }

  private answer(request: StoreRequest): StoreAnswer {
    switch (request.kind) {
      case 'write':
        return this.store.write(request, request.value);
      case 'read':
        return this.store.read(request);
      case 'open':
        return this.store.open(request);
    }
  }

  private observeRead(request: StoreRequest, answer: StoreAnswer, turn: Turn): void {
    turn.observe({
      kind: 'read',
      atUs: turn.atUs,
      process: this.name,
      resource: request.resource,
      key: request.key,
      value: answer.kind === 'value' ? answer.value : null,
      token: request.token,
      under: turn.under,
      client: turn.client,
      operation: turn.operation,
      issue: turn.issue,
      isAccepted: answer.kind !== 'refused',
      message: turn.message,
    });
  }

  private observeWrite(
    request: StoreRequest,
    { answer, highest }: { answer: StoreAnswer; highest: number },
    turn: Turn,
  ): void {
    turn.observe({
      kind: 'write',
      atUs: turn.atUs,
      process: this.name,
      resource: request.resource,
      key: request.key,
      value: request.kind === 'write' ? request.value : null,
      token: request.token,
      under: turn.under,
      client: turn.client,
      operation: turn.operation,
      issue: turn.issue,
      isAccepted: answer.kind !== 'refused',
      highest,
      adds: turn.adds,
      message: turn.message,
    });
  }

  restart(boot: Boot): void {
    this.store.crash();
    for (const resource of this.known) this.observeContents(resource, boot);
  }

  private observeContents(resource: string, boot: Boot): void {
    const { highest, values } = this.store.contents(resource);
    boot.observe({
      kind: 'recovered',
      atUs: boot.atUs,
      process: this.name,
      resource,
      highest,
      values: Object.fromEntries(values),
    });
  }

  snapshot(): () => void {
    return this.store.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    const forgetful = this.store.forget(key);
    for (const resource of forgetful) this.observeContents(resource, boot);
    return forgetful.length > 0;
  }
}
