/** What a generator needs of its process, where asynchronous code runs it as a part of its own. */
import type { Job } from '../../core/history/trace.ts';
import type { Json } from '../../core/kernel/json.ts';
import type { Name } from '../../core/kernel/name.ts';
import { type CallSetting, PendingCall } from '../../core/world/calls.ts';
import type { LeaseEnd, Quorum } from '../../core/world/client-view.ts';
import type { Self } from '../../core/world/program.ts';
import type { AsyncHost } from './async-host.ts';
import type { SectionCalls } from './context.ts';

/** Where the steps of a guard run. */
export interface PlainPlace {
  readonly host: AsyncHost;
  readonly calls: SectionCalls;
  /** The grant under which they are, also when the program has come to another section. */
  readonly ordinal: number;
}

/** The steps of a workload neither begin sections nor enter them: asynchronous code does. */
export class PlainSelf implements Self {
  private readonly host: AsyncHost;
  private readonly calls: SectionCalls;
  private readonly ordinal: number;

  constructor({ host, calls, ordinal }: PlainPlace) {
    this.host = host;
    this.calls = calls;
    this.ordinal = ordinal;
  }

  get name(): string {
    return this.host.name;
  }

  monotonicUs(): number {
    return this.host.process.clock.monotonicUs(this.host.nowUs);
  }

  wallUs(): number {
    return this.host.process.clock.wallUs(this.host.nowUs);
  }

  get nextIssue(): number {
    return this.calls.nextIssue;
  }

  prepare<Q extends Json, R extends Json>(setting: CallSetting<Q, R>): PendingCall<Q, R> {
    const operation = this.calls.nameFor(setting.operation);
    const ordinal = setting.under ?? this.ordinal;
    return new PendingCall({ ...setting, operation }, ordinal, this.calls.takeIssue());
  }

  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    this.host.launch(call);
  }

  get quorum(): Quorum {
    return this.host.ownGrants;
  }

  testLease(test: { isLive: boolean; end: LeaseEnd }): void {
    this.host.belief.testLease(test);
  }

  job(phase: Job['phase'], job: { section: Name; lock: string; tick: number }): void {
    this.host.belief.noteJob(phase, job);
  }

  log(topic: string, text: string): void {
    this.host.log(topic, text);
  }

  beginSection(): void {}
  enter(): void {}
  leave(): void {}
}
