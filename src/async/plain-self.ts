/** What a generator needs of its process, where asynchronous code runs it as a part of its own. */
import type { Job } from '../history/trace.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import { type CallSetting, PendingCall } from '../world/call.ts';
import type { LeaseEnd, Self } from '../world/program.ts';
import type { Quorum } from '../world/quorum.ts';
import type { AsyncHost } from './async-host.ts';
import type { SectionCalls } from './context.ts';

/** Where the steps of a guard run. */
export interface PlainPlace {
  readonly host: AsyncHost;
  readonly calls: SectionCalls;
  /** The grant under which they are, also when the program has come to another section. */
  readonly ordinal: number;
  /** The names of the section's operations so far: no two have the same. */
  readonly taken: Set<string>;
}

/** The steps of a workload neither begin sections nor enter them: asynchronous code does. */
export class PlainSelf implements Self {
  private readonly host: AsyncHost;
  private readonly calls: SectionCalls;
  private readonly ordinal: number;
  private readonly taken: Set<string>;
  /** What operations are called whose own names were taken. */
  private readonly renamed: Map<string, Name> = new Map();

  constructor({ host, calls, ordinal, taken }: PlainPlace) {
    this.host = host;
    this.calls = calls;
    this.ordinal = ordinal;
    this.taken = taken;
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
    const operation = this.nameFor(setting.operation);
    const ordinal = setting.under ?? this.ordinal;
    return new PendingCall({ ...setting, operation }, ordinal, this.calls.takeIssue());
  }

  /** The name, or where it is taken the first of `write-2`, `write-3`, … that is not. */
  private nameFor(name: Name): Name {
    const label = name.text.slice(this.calls.name.text.length + 1);
    let free = name;
    for (let count = 2; this.taken.has(free.text); count += 1) {
      free = under(this.calls.name, `${label}-${count}`);
    }
    this.taken.add(free.text);
    this.renamed.set(name.text, free);
    return free;
  }

  /** What the operation is called that was prepared last under a name. */
  pointOf(name: Name): Name {
    return this.renamed.get(name.text) ?? name;
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
