/**
 * Runs real asynchronous code as a process of the world. A pause holds back the calls and answers
 * of the code; a crash ends the incarnation. The parts:
 *
 *        the world's scheduler: the next event
 *            │ wakes a process (a reply, a timer, a restart)
 *            ▼
 *        AsyncHost ── settles what the code waits for ─────────────┐
 *            ▲                                                     ▼
 *            │ calls, marks, enter and leave            the user's code, to its next `await`
 *            │ (Context, LeaseHold)                                │ Date, setTimeout, randomUUID …
 *            └─────────────────────────────────────────────────────┤
 *                                                                  ▼
 *        Incarnation: its own clock and timers   ◄── ambient ── this thread's virtual globals
 *            │ an alarm for each timer
 *            ▼
 *        the scheduler again, once `run-filled.ts` has drained all jobs of this event
 *
 * Read next: `run-filled.ts` (draining jobs), `incarnation.ts`, `ambient.ts` and `globals.ts` (the
 * virtual environment), `forbidden-apis.ts` (refused calls), `planned-section.ts` (the plan's
 * sections), `waits.ts` (where the code waits), and `run-async.ts`, the entry point for other
 * layers.
 */
import type { SectionRun } from '../../core/history/trace.ts';
import type { Defect } from '../../core/kernel/assert.ts';
import type { Json } from '../../core/kernel/json.ts';
import { type Name, nameOf, under } from '../../core/kernel/name.ts';
import { type Awaitable, type CallSetting, Calls, PendingCall } from '../../core/world/calls.ts';
import type { Client } from '../../core/world/client.ts';
import { Quorum } from '../../core/world/client-view.ts';
import { SystemFailure } from '../../core/world/failure.ts';
import type { Connection } from '../../core/world/network.ts';
import type { Caller, CallOptions, Outcome, Port } from '../../core/world/port.ts';
import type { Process, ProcessHost } from '../../core/world/process.ts';
import { SectionLog } from '../../core/world/section-log.ts';
import type { HostedParts } from '../../core/world/world.ts';
import type { Hosts } from '../network/hosts.ts';
import { failureOf, type Talk, unheardIn } from '../network/talks.ts';
import { deepSiteOf, siteOf } from './call-site.ts';
import { Incarnation } from './incarnation.ts';
import { LeaseHold, type LeaseHoldSetting } from './lease-hold.ts';
import type { Printed } from './printing.ts';
import { sectionNow } from './section-context.ts';
import { sectionErrorOf } from './section-error.ts';
import { CallLog } from './unsettled.ts';
import type { UnsimulatedLog } from './unsimulated.ts';
import { waitOf } from './waits.ts';

/** A client's complete program. It runs again from the start after a restart. */
export type AsyncProgram = (context: Context) => Promise<void>;

/** A program that passes more points than this at one instant is in an endless loop. */
const POINTS_AT_ONE_INSTANT = 100_000;

export class AsyncHost implements ProcessHost, Client {
  readonly process: Process;
  readonly parts: HostedParts;
  readonly clientGrants: Quorum;
  private readonly program: AsyncProgram;
  private readonly hosts: Hosts;
  private readonly printed: Printed;
  private readonly unsimulated: UnsimulatedLog;
  private readonly calls: Calls;
  private readonly waiters: Map<Awaitable, () => void> = new Map();
  private incarnation: Incarnation | null = null;
  private incarnations = 0;
  /** Connections opened so far, in all incarnations. */
  private connections = 0;
  private talks: Talk[] = [];
  private lastCallUs = 0;
  private pointsPassed = 0;
  private pointsAtUs = 0;
  readonly sectionLog: SectionLog;
  /** Acquisitions that the program has not left, in the order of entry. */
  readonly leaseHolds: Set<LeaseHold> = new Set();

  constructor(
    process: Process,
    setting: {
      readonly program: AsyncProgram;
      readonly pool: number;
      readonly hosts: Hosts;
      readonly printed: Printed;
      readonly unsimulated: UnsimulatedLog;
    },
    parts: HostedParts,
  ) {
    this.process = process;
    this.parts = parts;
    this.program = setting.program;
    this.hosts = setting.hosts;
    this.printed = setting.printed;
    this.unsimulated = setting.unsimulated;
    const whenSettled = (call: Awaitable, operation: Name): void => this.settle(call, operation);
    this.calls = new Calls(process, { pool: setting.pool, whenSettled }, parts);
    this.clientGrants = new Quorum(process, parts);
    this.sectionLog = new SectionLog(process.name, parts.scheduler);
    process.attach(this);
  }

  get name(): string {
    return this.process.name;
  }

  get nowUs(): number {
    return this.parts.scheduler.nowUs;
  }

  get isBusy(): boolean {
    return this.incarnation !== null && !this.incarnation.hasFinished;
  }

  start(): void {
    this.incarnations += 1;
    const incarnation = new Incarnation(this.process, this.parts, this.incarnations);
    this.incarnation = incarnation;
    incarnation.printed = this.printed;
    incarnation.unsimulated = this.unsimulated;
    const context = new Context(this, incarnation);
    const takeNumber = (): number => {
      this.connections += 1;
      return this.connections;
    };
    const { hosts } = this;
    this.talks = [];
    const nowUs = (): number => this.nowUs;
    incarnation.network = { hosts, caller: context, takeNumber, talks: this.talks, nowUs };
    incarnation.run(() => {
      const whenDone = (): void => {
        incarnation.hasFinished = true;
      };
      void this.program(context).then(whenDone, (error: unknown) => incarnation.fail(error));
    });
  }

  restart(): void {
    this.start();
  }

  resume(): void {
    this.incarnation?.goOn();
  }

  mustWait(): boolean {
    return this.parts.jobs.mustWait(this.process);
  }

  crash(): void {
    this.sectionLog.crash();
    this.calls.crash();
    for (const leaseHold of this.leaseHolds) leaseHold.crash();
    this.close();
  }

  /** Ends the incarnation; its code has no effect from then on. */
  close(): void {
    this.waiters.clear();
    this.incarnation?.close();
    this.incarnation = null;
  }

  beginSection(section: Name): void {
    this.sectionLog.begin(section);
  }

  get sections(): readonly SectionRun[] {
    const { incarnation } = this;
    return this.sectionLog.runs.map((run) => {
      if (run.end.kind !== 'open' || incarnation === null) return run;
      const { process, section, beganUs } = run;
      return {
        process,
        section,
        beganUs,
        end: { kind: 'open', wait: waitOf(incarnation, section) },
      };
    });
  }

  /**
   * Records that an error ended `section`, or the latest section if null. Ignores the probe, which
   * tries again.
   */
  noteError(incarnation: Incarnation, section: Name | null, error: unknown): void {
    if (incarnation.isOver || this.process.info.role === 'probe') return;
    this.sectionLog.fail(section, sectionErrorOf(error));
  }

  /** Attributes the failure of the run to the section that was in progress. */
  noteFailure(): void {
    const { incarnation } = this;
    // Otherwise the scenario failed, not a section.
    const isOfCode = incarnation !== null && !(incarnation.thrown?.error instanceof SystemFailure);
    if (isOfCode && incarnation.thrown !== null)
      this.noteError(incarnation, null, incarnation.thrown.error);
  }

  /** Failure of code that ran outside an event of the process, or null if there is none. */
  get failure(): SystemFailure | Defect | null {
    return this.incarnation?.failure ?? null;
  }

  /** Fails the run, at its end, if the process still waits for a server that is not simulated. */
  endTalks(endedAtUs: number): void {
    const { incarnation, isBusy, nowUs, name } = this;
    const end = { isBusy, waitedUs: endedAtUs - this.lastCallUs, nowUs };
    const unheard = incarnation === null ? undefined : unheardIn(this.talks, end);
    if (incarnation === null || unheard === undefined) return;
    unheard.noteUnsimulated(null);
    incarnation.failure ??= failureOf(name, unheard);
  }

  connectionsTo(server: string): readonly Connection[] {
    return this.calls.connectionsTo(server);
  }

  /**
   * Sends a call, unless a fault holds it back. When the call ends, runs the callback as the
   * process's code.
   */
  ask<Q extends Json, R extends Json>(
    incarnation: Incarnation,
    { setting, under, issue }: { setting: CallSetting<Q, R>; under: number; issue: number },
    onAnswer: (call: PendingCall<Q, R>) => void,
  ): PendingCall<Q, R> {
    const call = new PendingCall(setting, setting.under ?? under, issue);
    if (incarnation.isOver) return call;
    incarnation.requireInside();
    this.lastCallUs = this.nowUs;
    this.await(incarnation, call, () => onAnswer(call));
    incarnation.whenRunning(() => {
      this.parts.points.pass('before', setting.operation);
      incarnation.next(() => this.calls.launch(call));
    });
    return call;
  }

  /** Runs the callback as the process's code once the call ends. */
  await(incarnation: Incarnation, call: Awaitable, onAnswer: () => void): void {
    if (incarnation.isOver) return;
    incarnation.openCalls += 1;
    this.waiters.set(call, () =>
      incarnation.whenRunning(() => {
        incarnation.openCalls -= 1;
        incarnation.run(onAnswer);
      }),
    );
  }

  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    this.calls.launch(call);
  }

  log(topic: string, text: string): void {
    this.parts.recorder.record({ kind: 'log', atUs: this.nowUs, process: this.name, topic, text });
  }

  /** Called when an answer arrives. A fault may be injected before the code continues. */
  private settle(call: Awaitable, operation: Name): void {
    this.parts.points.pass('after', operation);
    const onAnswer = this.waiters.get(call);
    this.waiters.delete(call);
    onAnswer?.();
  }

  /** Passes a point that the program itself set; resolves when the program may continue. */
  pass(incarnation: Incarnation, point: Name, onPassed: () => void = () => {}): Promise<void> {
    if (incarnation.isOver) return new Promise(() => {});
    incarnation.requireInside();
    this.countPoint(incarnation);
    let resolve = (): void => {};
    const passed = new Promise<void>((done) => {
      resolve = done;
    });
    incarnation.whenRunning(() => {
      const { recorder, points } = this.parts;
      recorder.record({ kind: 'mark', atUs: this.nowUs, process: this.name, point: point.text });
      points.pass('before', point);
      points.pass('after', point);
      incarnation.next(() => {
        onPassed();
        incarnation.run(resolve);
      });
    });
    return passed;
  }

  private countPoint(incarnation: Incarnation): void {
    if (this.pointsAtUs !== this.nowUs) this.pointsPassed = 0;
    this.pointsAtUs = this.nowUs;
    this.pointsPassed += 1;
    if (this.pointsPassed <= POINTS_AT_ONE_INSTANT) return;
    const error = new Error('it never waits');
    incarnation.fail(error);
    throw error;
  }
}

export class Context implements Caller {
  readonly host: AsyncHost;
  readonly incarnation: Incarnation;
  /** The section that began last; it names calls made outside any section. */
  private calls: SectionCalls;
  /** Calls that belong to no particular section; null while sections run one at a time. */
  private shared: SectionCalls | null = null;

  constructor(host: AsyncHost, incarnation: Incarnation) {
    this.host = host;
    this.incarnation = incarnation;
    this.calls = new SectionCalls(host, incarnation, under(incarnation.root, 'start'));
  }

  get name(): string {
    return this.host.name;
  }

  /** Number of sections begun so far; a restarted program continues after them. */
  get begun(): number {
    return this.host.sectionLog.begun;
  }

  /** Begins section `id`; its operations are named `alice/<id>/…`. */
  section(id: number): SectionCalls {
    const name = under(nameOf(this.name), String(id));
    if (!this.incarnation.isOver) this.host.beginSection(name);
    this.calls = new SectionCalls(this.host, this.incarnation, name);
    return this.calls;
  }

  /** Allows several sections to run concurrently from now on. */
  runSeveral(): void {
    this.shared = new SectionCalls(
      this.host,
      this.incarnation,
      under(this.incarnation.root, 'shared'),
    );
  }

  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    ask: { readonly label: string; readonly request: Q },
    options: CallOptions = {},
  ): Promise<Outcome<R>> {
    const section = options.isBatched === true ? undefined : sectionNow();
    const isSameProcess =
      section instanceof SectionCalls && section.incarnation === this.incarnation;
    const calls = this.shared === null ? this.calls : isSameProcess ? section : this.shared;
    return calls.call(port, ask, options);
  }

  log(topic: string, text: string): void {
    if (this.incarnation.isOver) return;
    this.incarnation.requireInside();
    this.host.log(topic, text);
  }
}

/** The calls of one section of a program, and the acquisitions it relies on. */
export class SectionCalls implements Caller {
  readonly name: Name;
  readonly incarnation: Incarnation;
  private readonly host: AsyncHost;
  /** Number of uses of each label, and all names in use, so that names stay unique. */
  private readonly counts: Map<string, number> = new Map();
  private readonly taken: Set<string> = new Set();
  /** Grants received in answers, by lock, until a guard takes them over. */
  private readonly grants: Map<string, number[]> = new Map();
  readonly log: CallLog = new CallLog();
  private issued = 0;
  /** The acquisition entered or left last; the section's own calls are recorded under it. */
  private leaseHold: LeaseHold | null = null;

  constructor(host: AsyncHost, incarnation: Incarnation, name: Name) {
    this.host = host;
    this.incarnation = incarnation;
    this.name = name;
  }

  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    { label, request }: { readonly label: string; readonly request: Q },
    options: CallOptions = {},
  ): Promise<Outcome<R>> {
    const { timeoutMs, tries = 1, site = deepSiteOf(this.call), outlivesSection } = options;
    const call = port.describeRequest(request);
    const setting = {
      operation: this.nameFor(under(this.name, label)),
      call,
      target: port.host,
      request,
      timeoutUs: timeoutMs === undefined ? null : Math.round(timeoutMs * 1000),
      tries,
      describe: (reply: R) => port.describeReply(reply, request),
      whenUnsimulated: (what: string) =>
        this.incarnation.noteUnsimulated({ kind: 'command', what, method: label }, site),
      mayBeSilent: true as const,
    };
    const place = { setting, under: this.leaseHold?.ordinal ?? 0, issue: this.takeIssue() };
    const onEnd = outlivesSection ? null : this.log.begin(label, call.verb, site);
    return new Promise((resolve) => {
      this.host.ask(this.incarnation, place, (settled) => {
        onEnd?.(settled);
        if (settled.granted > 0 && 'lock' in call) this.noteGrant(call.lock, settled.granted);
        const { state, reply } = settled;
        if (state === 'answered' && reply !== null) resolve({ kind: 'answered', reply });
        else resolve({ kind: state === 'never' ? 'never' : 'unknown' });
      });
    });
  }

  /** Returns the number of the next call of this section, counted from 1. */
  takeIssue(): number {
    this.issued += 1;
    return this.issued;
  }

  get nextIssue(): number {
    return this.issued + 1;
  }

  /** Passes the point `alice/1/<point>`, where a plan may place a fault. */
  mark(point: string): Promise<void> {
    const onPassed = this.log.pass(point, siteOf(this.mark));
    return this.host.pass(this.incarnation, under(this.name, point), onPassed);
  }

  /** Returns `name` or, if it is taken, the first free name among `write-2`, `write-3`, …. */
  nameFor(name: Name): Name {
    let free = name;
    const before = this.counts.get(name.text) ?? 1;
    for (let count = before; this.taken.has(free.text); count += 1) {
      this.counts.set(name.text, count + 1);
      const label = name.text.slice(this.name.text.length + 1);
      free = under(this.name, `${label}-${count + 1}`);
    }
    this.taken.add(free.text);
    return free;
  }

  private noteGrant(lock: string, ordinal: number): void {
    const grants = this.grants.get(lock);
    if (grants === undefined) this.grants.set(lock, [ordinal]);
    else grants.push(ordinal);
  }

  /**
   * Records that the program relies on its lock, under the last grant that a server reported.
   * Without an unused grant, the acquisition gets a client grant.
   */
  enter(setting: LeaseHoldSetting): LeaseHold {
    const last = this.grants.get(setting.lock)?.pop() ?? null;
    const isHeld = [...this.host.leaseHolds].some(({ ordinal }) => ordinal === last);
    const given = isHeld ? null : last;
    const whenLeft = (left: LeaseHold): void => {
      this.leaseHold = left;
    };
    const entered = { ...setting, section: this.name, given, whenLeft };
    this.leaseHold = new LeaseHold(this.host, this.incarnation, entered);
    return this.leaseHold;
  }
}
