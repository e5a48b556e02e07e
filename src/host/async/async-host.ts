/**
 * Runs real asynchronous code as a process of the world. It is written against a `Context`; its
 * clocks, timers and random values are the process's own. A pause holds back what the code sends
 * and what it waits for; a crash ends the life that all of that belongs to.
 */
import type { Defect } from '../../core/kernel/assert.ts';
import type { Json } from '../../core/kernel/json.ts';
import type { Name } from '../../core/kernel/name.ts';
import { type Awaitable, type CallSetting, Calls, PendingCall } from '../../core/world/calls.ts';
import type { Client } from '../../core/world/client.ts';
import { Belief, Quorum } from '../../core/world/client-view.ts';
import type { SystemFailure } from '../../core/world/failure.ts';
import type { Connection } from '../../core/world/network.ts';
import type { Process, Resident } from '../../core/world/process.ts';
import type { HostedParts } from '../../core/world/world.ts';
import { Context } from './context.ts';
import { Life } from './life.ts';
import type { Tenure } from './tenure.ts';

/** A client's whole program; run anew after a restart. */
export type AsyncProgram = (context: Context) => Promise<void>;

/** A program that passes more points than this without waiting for anything never will. */
const POINTS_AT_ONE_INSTANT = 100_000;

export class AsyncHost implements Resident, Client {
  readonly process: Process;
  readonly parts: HostedParts;
  readonly belief: Belief;
  readonly ownGrants: Quorum;
  private readonly program: AsyncProgram;
  private readonly calls: Calls;
  private readonly waiters: Map<Awaitable, () => void> = new Map();
  private life: Life | null = null;
  private lives = 0;
  private pointsPassed = 0;
  private pointsAtUs = 0;
  /** How many sections have begun. */
  begun = 0;
  /** The time in which it counts on its lock, if it was ever given one in this life. */
  tenure: Tenure | null = null;

  constructor(
    process: Process,
    setting: { readonly program: AsyncProgram; readonly pool: number },
    parts: HostedParts,
  ) {
    this.process = process;
    this.parts = parts;
    this.program = setting.program;
    const whenSettled = (call: Awaitable, operation: Name): void => this.settle(call, operation);
    this.calls = new Calls(process, { pool: setting.pool, whenSettled }, parts);
    this.belief = new Belief(process, parts);
    this.ownGrants = new Quorum(process, parts);
    process.house(this);
  }

  get name(): string {
    return this.process.name;
  }

  get nowUs(): number {
    return this.parts.scheduler.nowUs;
  }

  start(): void {
    this.lives += 1;
    const life = new Life(this.process, this.parts, this.lives);
    this.life = life;
    const context = new Context(this, life);
    life.run(() => {
      const whenDone = (): void => {
        life.hasFinished = true;
      };
      void this.program(context).then(whenDone, (error: unknown) => life.fail(error));
    });
  }

  restart(): void {
    this.start();
  }

  resume(): void {
    this.life?.goOn();
  }

  mustWait(): boolean {
    return this.parts.jobs.mustWait(this.process);
  }

  crash(): void {
    this.calls.crash();
    this.tenure?.crash();
    this.tenure = null;
    this.close();
    this.belief.leave();
    this.belief.begin();
  }

  /** Its code has no effect any more. */
  close(): void {
    this.waiters.clear();
    this.life?.close();
    this.life = null;
  }

  /** A failure of its code that came when none of its code was to run. */
  get failure(): SystemFailure | Defect | null {
    return this.life?.unthrown ?? null;
  }

  connectionsTo(server: string): readonly Connection[] {
    return this.calls.connectionsTo(server);
  }

  /** Sends a call, unless a fault holds it back; `told` is run as code once it has ended. */
  ask<Q extends Json, R extends Json>(
    life: Life,
    { setting, under, issue }: { setting: CallSetting<Q, R>; under: number; issue: number },
    told: (call: PendingCall<Q, R>) => void,
  ): PendingCall<Q, R> {
    const call = new PendingCall(setting, setting.under ?? under, issue);
    if (life.isOver) return call;
    life.requireInside();
    this.await(life, call, () => told(call));
    life.whenRunning(() => {
      this.parts.points.pass('before', setting.operation);
      life.next(() => this.calls.launch(call));
    });
    return call;
  }

  /** Runs `told` as code once the call has ended. */
  await(life: Life, call: Awaitable, told: () => void): void {
    if (life.isOver) return;
    life.openCalls += 1;
    this.waiters.set(call, () =>
      life.whenRunning(() => {
        life.openCalls -= 1;
        life.run(told);
      }),
    );
  }

  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    this.calls.launch(call);
  }

  log(topic: string, text: string): void {
    this.parts.recorder.record({ kind: 'log', atUs: this.nowUs, process: this.name, topic, text });
  }

  /** The answer reached the process; a fault may strike before its code learns of it. */
  private settle(call: Awaitable, operation: Name): void {
    this.parts.points.pass('after', operation);
    const tell = this.waiters.get(call);
    this.waiters.delete(call);
    tell?.();
  }

  /** Passes a point that the program set itself; resolves when it may go on. */
  pass(life: Life, point: Name): Promise<void> {
    if (life.isOver) return new Promise(() => {});
    life.requireInside();
    this.countPoint(life);
    let resolve = (): void => {};
    const passed = new Promise<void>((done) => {
      resolve = done;
    });
    life.whenRunning(() => {
      const { recorder, points } = this.parts;
      recorder.record({ kind: 'mark', atUs: this.nowUs, process: this.name, point: point.text });
      points.pass('before', point);
      points.pass('after', point);
      life.next(() => life.run(resolve));
    });
    return passed;
  }

  private countPoint(life: Life): void {
    if (this.pointsAtUs !== this.nowUs) this.pointsPassed = 0;
    this.pointsAtUs = this.nowUs;
    this.pointsPassed += 1;
    if (this.pointsPassed <= POINTS_AT_ONE_INSTANT) return;
    const error = new Error('it never waits');
    life.fail(error);
    throw error;
  }
}
