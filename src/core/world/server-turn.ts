/** What a server knows of one request while it handles it, and how it answers and asks. */
import type { TraceEvent } from '../history/trace.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import type { Attempt } from './call.ts';
import type { Process } from './process.ts';
import type { Recorder } from './recorder.ts';
import type { Turn } from './server.ts';
import type { Question, Told } from './server-calls.ts';

type Asked<Q extends Json, R extends Json> = { readonly operation: Name } & Omit<
  Question<Q, R>,
  'label'
>;

/** How a server's host asks another server. */
export type Asking = <Q extends Json, R extends Json>(
  question: Asked<Q, R>,
  told: Told<Q, R>,
) => void;

export class ServerTurn<Q extends Json, R extends Json> implements Turn<R> {
  readonly atUs: number;
  private readonly attempt: Attempt<Q, R>;
  private readonly process: Process;
  private readonly recorder: Recorder;
  private readonly isCopy: boolean;
  readonly answer: (reply: R) => void;
  private readonly asking: Asking;

  constructor(
    attempt: Attempt<Q, R>,
    parts: {
      process: Process;
      recorder: Recorder;
      nowUs: number;
      isCopy: boolean;
      answer: (reply: R) => void;
      ask: Asking;
    },
  ) {
    this.attempt = attempt;
    this.process = parts.process;
    this.recorder = parts.recorder;
    this.atUs = parts.nowUs;
    this.isCopy = parts.isCopy;
    this.answer = parts.answer;
    this.asking = parts.ask;
  }

  get wallUs(): number {
    return this.process.clock.wallUs(this.atUs);
  }

  get monotonicUs(): number {
    return this.process.clock.monotonicUs(this.atUs);
  }

  trueTimeOf(clock: 'wall' | 'monotonic' | 'right', us: number): number {
    if (clock === 'right') return us - this.process.epochUs;
    return clock === 'wall'
      ? this.process.clock.trueTimeOfWall(us)
      : this.process.clock.trueTimeOfMonotonic(us);
  }

  get client(): string {
    return this.attempt.caller.process.name;
  }

  get operation(): string {
    return this.attempt.call.setting.operation.text;
  }

  get message(): string {
    return this.attempt.requestName.text;
  }

  get issue(): number {
    return this.attempt.call.issue;
  }

  get under(): number {
    return this.attempt.call.under;
  }

  get sentAtUs(): number {
    return this.attempt.sentAtUs;
  }

  get adds(): number | null {
    const { call } = this.attempt.call.setting;
    return 'adds' in call ? call.adds : null;
  }

  ask<A extends Json, B extends Json>(question: Question<A, B>, told: Told<A, B>): void {
    const { label, call, target, request, timeoutUs, tries, describe } = question;
    const operation = under(this.attempt.name, this.isCopy ? `${label}-copy` : label);
    this.asking({ operation, call, target, request, timeoutUs, tries, describe }, told);
  }

  observe(event: TraceEvent): void {
    this.recorder.record(event);
  }

  grant(again?: number): number {
    const ordinal = again ?? this.recorder.nextOrdinal();
    if (!this.isCopy) this.attempt.granted = ordinal;
    return ordinal;
  }
}
