/**
 * The calls that a server makes while it handles a request: a store that asks the lock service, for
 * one. They are messages like those of clients, with latency and faults; their answers find the
 * server only in the life in which it asked.
 */
import type { Json } from '../kernel/json.ts';
import type { Name } from '../kernel/name.ts';
import { type CallSetting, PendingCall } from './call.ts';
import { Calls, type CallsParts } from './calls.ts';
import { underTest } from './failure.ts';
import type { Process } from './process.ts';
import type { Awaitable } from './program.ts';

/** What a server asks another one; `label` says what for: `check` in `alice/1/write/1/check`. */
export interface Question<Q extends Json, R extends Json>
  extends Omit<CallSetting<Q, R>, 'operation' | 'under'> {
  readonly label: string;
}

/** Told, once and at true time `atUs`, how a question ended; not if the server crashes before. */
export type Told<Q extends Json, R extends Json> = (call: PendingCall<Q, R>, atUs: number) => void;

export class ServerCalls {
  private readonly process: Process;
  private readonly parts: CallsParts;
  private readonly calls: Calls;
  private readonly waiting: Map<Awaitable, () => void> = new Map();
  private issued = 0;

  constructor(process: Process, parts: CallsParts) {
    this.process = process;
    this.parts = parts;
    const whenSettled = (call: Awaitable): void => this.tell(call);
    this.calls = new Calls(process, { pool: 1, whenSettled }, parts);
  }

  ask<Q extends Json, R extends Json>(
    question: { readonly operation: Name } & Omit<Question<Q, R>, 'label'>,
    told: Told<Q, R>,
  ): void {
    this.issued += 1;
    const call = new PendingCall<Q, R>(question, 0, this.issued);
    this.waiting.set(call, () => told(call, this.parts.scheduler.nowUs));
    this.calls.launch(call);
  }

  private tell(call: Awaitable): void {
    const told = this.waiting.get(call);
    this.waiting.delete(call);
    if (told !== undefined) underTest(this.process.name, told);
  }

  crash(): void {
    this.waiting.clear();
    this.calls.crash();
  }
}
