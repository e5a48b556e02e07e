/**
 * A section of a plan as asynchronous code sees it, and the guard under which the code works. Under
 * a guard, the code makes its own accesses or runs the steps of the plan, which are generators.
 */
import { assert } from '../../core/kernel/assert.ts';
import type { SectionPlan } from '../../core/plan/plan.ts';
import { PendingCall } from '../../core/world/calls.ts';
import { Alarm } from '../../core/world/process.ts';
import type { Effect, Program, Self } from '../../core/world/program.ts';
import {
  AccessRefused,
  type AsyncClientSetting,
  type AsyncSection,
  type Guard,
  type GuardSetting,
  type LockDriver,
  NoAnswer,
  type Section,
} from '../../systems/protocol.ts';
import { awaitAnswers, doAll } from '../../systems/section.ts';
import { askStore, namesUnder, type StoreAsk } from '../../systems/section-calls.ts';
import type { StoreReply } from '../../systems/store/request.ts';
import type { AsyncHost, SectionCalls } from './async-host.ts';
import { about, type CallSite, siteOf } from './call-site.ts';
import type { Incarnation } from './incarnation.ts';
import type { LeaseHold } from './lease-hold.ts';
import { shareExports } from './reachable.ts';
import { unfinished } from './section-error.ts';
import { type Begun, Unsettled } from './unsettled.ts';

interface Place {
  readonly host: AsyncHost;
  readonly incarnation: Incarnation;
  readonly calls: SectionCalls;
  readonly client: Omit<AsyncClientSetting, 'role' | 'programOf'>;
}

export class PlannedSection implements AsyncSection {
  readonly id: number;
  readonly lock: string;
  readonly ttlMs: number;
  readonly call: AsyncSection['call'];
  readonly mark: AsyncSection['mark'];
  private readonly at: Place;
  private readonly section: SectionPlan;
  private readonly guards: PlannedGuard[] = [];

  constructor(section: SectionPlan, at: Place) {
    this.id = section.id;
    this.lock = section.lock;
    this.ttlMs = at.client.plan.ttlUs / 1000;
    this.call = (port, ask, options) => at.calls.call(port, ask, options);
    this.mark = (point) => at.calls.mark(point);
    this.section = section;
    this.at = at;
  }

  /** True if the program has reported that it has the lock. */
  get hasEntered(): boolean {
    return this.guards.length > 0;
  }

  guard(setting: GuardSetting = {}): Guard {
    requireTerm('guard', setting);
    const { calls } = this.at;
    requireNone(calls.log.openAcquire, this.at.incarnation, 'section.guard() was called');
    const { hasGrants } = this.at.client;
    const entered = calls.enter({ lock: this.lock, hasGrants, ...setting });
    const guard = new PlannedGuard(this.section, this.at, entered);
    this.guards.push(guard);
    return guard;
  }

  /** Fails the run if the program returned without waiting for an access. */
  requireSettled(): void {
    for (const guard of this.guards) guard.requireSettled();
  }

  end(): void {
    for (const guard of this.guards) guard.end();
  }
}

/** Fails the run if something is still in progress, even if the program catches this error. */
function requireNone(begun: Begun | null, incarnation: Incarnation, when: string): void {
  if (begun === null || incarnation.isOver) return;
  const error = unfinished(begun, when);
  incarnation.fail(error);
  throw error;
}

/** Throws for values that untyped code may pass: a promise, text from a reply, or NaN. */
function requireTerm(of: 'guard' | 'renew', setting: GuardSetting): void {
  if ('then' in setting) throw new TypeError(`${of}: got a promise; await it first`);
  requireNumber(of, 'token', setting.token ?? 0);
  requireNumber(of, 'untilMs', setting.untilMs ?? 0);
}

function requireNumber(of: string, field: string, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) return;
  const actual = typeof value === 'number' ? value : typeof value;
  throw new TypeError(`${of}: ${field} must be a number, not ${actual}`);
}

class PlannedGuard implements Guard {
  private readonly leaseHold: LeaseHold;
  private readonly place: Place;
  private readonly at: Section;
  private readonly accesses: Unsettled = new Unsettled();
  /** The last operation that wrote a key or read its value, by key. */
  private readonly known: Map<string, string> = new Map();
  /** True if an access was rejected; the program then need not wait for concurrent accesses. */
  private hasFailed = false;
  /** The access in progress when the guard was left. */
  private leftBehind: Begun | null = null;

  constructor(section: SectionPlan, place: Place, leaseHold: LeaseHold) {
    const { calls, client } = place;
    const { stores, replicas, requirements, plan } = client;
    const driver = driverWith(leaseHold);
    this.leaseHold = leaseHold;
    this.place = place;
    const self = selfUnder(leaseHold, place);
    this.at = {
      self,
      plan,
      section,
      name: calls.name,
      nextName: namesUnder(calls.name),
      driver,
      servers: {
        driverOf: () => driver,
        stores,
        requirements,
        ...(replicas === undefined ? {} : { replicas }),
      },
      unanswered: [],
      opened: new Set(),
      end: leaseHold.end,
      token: leaseHold.token,
      versions: requirements.hasVersions ? new Map() : null,
    };
  }

  work(): Promise<void> {
    const { at } = this;
    return this.run(this.begin('guard.work()', siteOf(this.work)), function* () {
      yield* doAll(at);
      yield* awaitAnswers(at);
    });
  }

  async read(key: string): Promise<number> {
    const site = siteOf(this.read);
    const reply = await this.ask({ kind: 'read', key, value: null, adds: null }, site);
    if (reply.kind === 'value') return reply.value;
    throw this.rejection(new AccessRefused(`the read of ${key} was refused`), site);
  }

  async write(key: string, value: number): Promise<boolean> {
    requireNumber('guard', 'the value', value);
    const site = siteOf(this.write);
    const base = this.known.get(key);
    const reply = await this.ask({ kind: 'write', key, value, adds: null, base }, site);
    return reply.kind === 'accepted';
  }

  private async ask(ask: StoreAsk, site: CallSite): Promise<StoreReply> {
    const { at, known } = this;
    const begun = this.begin(`guard.${ask.kind}('${ask.key}')`, site);
    const [store = 'store'] = at.servers.stores.keys();
    const place = { id: 1, label: ask.kind, store, key: ask.key };
    const reply = await this.run(begun, function* (): Program<StoreReply | null> {
      const { setting, reply } = yield* askStore(at, place, ask);
      if (ask.kind === 'write' || reply?.kind === 'value') {
        known.set(ask.key, setting.operation.text);
      }
      return reply;
    });
    if (reply !== null) return reply;
    throw this.rejection(new NoAnswer(`no answer to the ${ask.kind} of ${ask.key}`), site);
  }

  private begin(call: string, site: CallSite): Begun {
    return this.accesses.begin({ what: call, kind: call, site });
  }

  private rejection(error: Error, site: CallSite): Error {
    this.hasFailed = true;
    return about(error, { site, call: '' });
  }

  private run<T>(begun: Begun, program: () => Program<T>): Promise<T> {
    const { host, incarnation } = this.place;
    return perform(host, incarnation, this.untilDone(begun, program));
  }

  /** Marks the access as ended before the code that waits for it continues. */
  private *untilDone<T>(begun: Begun, program: () => Program<T>): Program<T> {
    const done = yield* program();
    this.accesses.end(begun);
    return done;
  }

  requireSettled(): void {
    const { incarnation } = this.place;
    requireNone(this.leftBehind, incarnation, 'its guard was left');
    if (!this.hasFailed) requireNone(this.accesses.first(), incarnation, 'its section ended');
  }

  renew(setting: GuardSetting = {}): void {
    requireTerm('renew', setting);
    this.leaseHold.renew(setting);
    this.at.end = this.leaseHold.end;
  }

  /** Notes an unfinished access, which is reported unless an error ends the section. */
  leave(): void {
    if (!this.hasFailed) this.leftBehind ??= this.accesses.first();
    this.leaseHold.leave();
  }

  end(): void {
    this.leaseHold.leave();
  }
}

/** Returns a driver for the steps of a workload, which use only the lock's token. */
function driverWith(leaseHold: LeaseHold): LockDriver {
  const isNone = function* (): Program<false> {
    return false;
  };
  return { acquire: isNone, *release() {}, token: () => leaseHold.token };
}

/**
 * Returns the process as the steps of a workload under this grant see it. Steps neither begin nor
 * enter sections; asynchronous code does.
 */
function selfUnder({ ordinal, view }: LeaseHold, { host, calls }: Place): Self {
  const { clock } = host.process;
  return {
    name: host.name,
    quorum: host.clientGrants,
    monotonicUs: () => clock.monotonicUs(host.nowUs),
    wallUs: () => clock.wallUs(host.nowUs),
    get nextIssue() {
      return calls.nextIssue;
    },
    prepare: (setting) => {
      const operation = calls.nameFor(setting.operation);
      const under = setting.under ?? ordinal;
      return new PendingCall({ ...setting, operation }, under, calls.takeIssue());
    },
    launch: (call) => host.launch(call),
    testLease: (test) => view.testLease(test),
    job: (phase, job) => view.noteJob(phase, job),
    log: (topic, text) => host.log(topic, text),
    beginSection: () => {},
    endSection: () => {},
    enter: () => {},
    leave: () => {},
  };
}

/** Runs a program and returns its result; never resolves if the process ends first. */
export async function perform<T>(
  host: AsyncHost,
  incarnation: Incarnation,
  program: Program<T>,
): Promise<T> {
  for (;;) {
    const step = program.next();
    if (step.done === true) return step.value;
    const passes = passed(host, incarnation, step.value);
    if (passes !== null) await passes;
  }
}

/** Resolves once the program may continue. Returns null if the program may continue at once. */
function passed(host: AsyncHost, incarnation: Incarnation, effect: Effect): Promise<void> | null {
  switch (effect.kind) {
    case 'send':
      return send(host, incarnation, effect);
    case 'await':
      return effect.call.isSettled
        ? null
        : new Promise((resolve) => host.await(incarnation, effect.call, resolve));
    case 'mark':
      return host.pass(incarnation, effect.point);
    case 'sleep':
      return slept(host, incarnation, effect);
    case 'background':
      assert(false, 'asynchronous code uses its own timers for background work');
  }
}

function send(
  host: AsyncHost,
  incarnation: Incarnation,
  { point, launch, awaits }: Extract<Effect, { kind: 'send' }>,
): Promise<void> {
  incarnation.requireInside();
  return new Promise((resolve) => {
    const goOn = (): void => incarnation.run(resolve);
    incarnation.whenRunning(() => {
      host.parts.points.pass('before', point);
      incarnation.next(() => {
        if (awaits !== null) host.await(incarnation, awaits, resolve);
        launch();
        if (awaits === null) goOn();
      });
    });
  });
}

function slept(
  host: AsyncHost,
  incarnation: Incarnation,
  { timer: name, forUs, isJittered }: Extract<Effect, { kind: 'sleep' }>,
): Promise<void> {
  const { process, parts } = host;
  const { choices } = parts;
  const waitUs = isJittered ? choices.jitteredUs(name, forUs) : choices.waitUs(name, forUs);
  return new Promise((resolve) => {
    const action = (): void => {
      if (!incarnation.isOver) incarnation.run(resolve);
    };
    if (!incarnation.isOver) new Alarm(process, { name, waitUs, action }, parts);
  });
}

shareExports('section', PlannedSection.prototype);
shareExports('guard', PlannedGuard.prototype);
