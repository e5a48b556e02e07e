/**
 * Runs a plan whose clients are real asynchronous code, and returns its trace. After each event
 * that wakes such a client, all of its jobs run before the next event.
 *
 * Between two callbacks of the real `setImmediate`, all pending jobs run, and nothing else in the
 * thread does. Events therefore run in rows of such callbacks, one per event. Between rows, the
 * rest of the thread runs, and no simulated process is current.
 *
 * Limits, unless modules are loaded through `host/realm`: a module loaded by `import()` during a
 * run arrives when the disk delivers it, and all processes and runs share its state. Jobs that
 * create new jobs forever hang the thread, as in production.
 */

import process from 'node:process';
import type { Trace } from '../../core/history/trace.ts';
import { ASYNC_EPOCH_US } from '../../core/plan/duration.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { DrawLog } from '../../core/world/choices.ts';
import { SystemFailure } from '../../core/world/failure.ts';
import type { Intervention } from '../../core/world/interventions.ts';
import { Pinning } from '../../core/world/pinning.ts';
import { type RunWatcher, World } from '../../core/world/world.ts';
import { errorText } from '../../text/error-text.ts';
import { hostsOf } from '../network/hosts.ts';
import { type RealmBlock, takeFrom } from '../realm/realm-blocks.ts';
import { ambient, inRealTurn } from './ambient.ts';
import { areTracked } from './async-context.ts';
import { AsyncHost, type AsyncProgram } from './async-host.ts';
import { blameForRealWork, hasMore, realWork } from './forbidden-apis.ts';
import { type SharedChange, sharedState } from './global-objects.ts';
import { type GlobalsOptions, virtualizeGlobals } from './globals.ts';
import { type AnyFunction, isFunction, Shared } from './patches.ts';
import { Printed, printingTo, withOutput } from './printing.ts';
import { isMistake } from './section-error.ts';
import { UnsimulatedLog } from './unsimulated.ts';
import { giveBackDefaults } from './virtual-process.ts';
import { notedAwaits } from './waits.ts';
import { blameForChanges, sharedChangeText } from './walk.ts';

/** The world to which a system adds its servers and clients. */
export class AsyncWorld {
  readonly world: World;
  /** Lets servers listen at the plan's addresses. Call it after adding the lock's own servers. */
  readonly openHosts: () => void;
  readonly printed: Printed = new Printed();
  private readonly hosts: AsyncHost[] = [];
  readonly unsimulated: UnsimulatedLog = new UnsimulatedLog();

  constructor(world: World, openHosts: (world: World) => void) {
    this.world = world;
    this.openHosts = () => openHosts(world);
  }

  /** Adds a client that runs `program`, with `pool` connections to each server. */
  addClient(
    name: string,
    program: AsyncProgram,
    {
      pool = 1,
      role = 'client',
    }: { readonly pool?: number; readonly role?: 'client' | 'probe' } = {},
  ): void {
    this.world.addHosted({ name, role }, (process, parts) => {
      const { world, printed, unsimulated } = this;
      const setting = { program, pool, hosts: hostsOf(world), printed, unsimulated };
      const host = new AsyncHost(process, setting, parts);
      this.hosts.push(host);
      return host;
    });
  }

  /** Returns the trace of the run, with failures that were noticed only after its last event. */
  traceOf(trace: Trace, { endUs }: Plan['limits']): Trace {
    const { ending, events } = trace;
    // If no limit was reached, no event is left, so a process that still waits never continues.
    let endedAtUs = Number.POSITIVE_INFINITY;
    if (ending.kind === 'cut')
      endedAtUs = ending.limit === 'end' ? endUs : (events.at(-1)?.atUs ?? 0);
    if (ending.kind !== 'failed') for (const host of this.hosts) host.endTalks(endedAtUs);
    for (const host of this.hosts) host.noteFailure();
    const { world, unsimulated } = this;
    const ended = { ...this.withFailure(trace), sections: world.sections, ...unsimulated.counts };
    return withOutput(ended, this.printed);
  }

  /** Marks the trace as failed if client code failed outside an event of its process. */
  private withFailure(trace: Trace): Trace {
    const failure = this.hosts.map((host) => host.failure).find((found) => found !== null) ?? null;
    if (failure === null || trace.ending.kind === 'failed') return trace;
    if (!(failure instanceof SystemFailure)) throw failure;
    return { ...trace, ending: failure.ending };
  }

  /** Ends all programs. Their code has no effect afterwards. */
  close(): void {
    for (const host of this.hosts) host.close();
  }
}

/**
 * Assembles the system of a plan. Called once per run, and must keep no state between runs. The
 * returned function, if any, is called after the run.
 */
export type Fill = (plan: Plan, world: AsyncWorld) => undefined | (() => void);

/** Runs a plan. The same plan gives the same trace as long as its programs share nothing. */
export function runFilled(
  plan: Plan,
  fill: Fill,
  options?: RunManner,
  watcher: RunWatcher | null = null,
): Promise<Trace> {
  return runIn(plan, { fill, log: null, watcher, options });
}

/** Returns a plan without chance that gives a trace with the same digest. */
export async function pinFilled(plan: Plan, fill: Fill, options?: GlobalsOptions): Promise<Plan> {
  if (plan.chance === null) return plan;
  const pinning = new Pinning();
  const { log, watcher } = pinning;
  await runIn(plan, { fill, log, watcher, options });
  return pinning.pinned(plan);
}

/** Options of a run. Only interventions change what happens in it. */
export interface RunManner extends GlobalsOptions {
  readonly interventions?: readonly Intervention[];
  /** Source of realms for its processes. Default: a new realm per start. */
  readonly realms?: RealmBlock;
  /** If true, records where sections wait, for sections that never end. Slows the run. */
  readonly notesAwaits?: boolean;
}

interface RunSetting {
  readonly fill: Fill;
  readonly log: DrawLog | null;
  readonly watcher: RunWatcher | null;
  readonly options: RunManner | undefined;
}

/**
 * Runs a plan, repeating the run if needed. If a process is the first in this thread to read its
 * asynchronous context, the repeated run tracks contexts. If shared objects were changed or real
 * work is left, the repeated run checks both after each step, to find the process responsible.
 */
async function runIn(plan: Plan, setting: RunSetting): Promise<Trace> {
  // A run with a log or a watcher follows another run of the same plan and is not repeated.
  const isOnly = setting.log !== null || setting.watcher !== null;
  if (isOnly) return (await runOnce(plan, setting, { isWatched: true })).trace;
  const wereTracked = areTracked();
  const before = realWork();
  const { trace, change, unplaced } = await runOnce(plan, setting, { isWatched: false });
  if (areTracked() !== wereTracked) return runIn(plan, setting);
  if (change === null && !hasMore(realWork(), before)) {
    if (unplaced.size === 0) return trace;
    // Use new realms, because the next run of a block must find the realms as this run left them.
    const { realms: _, ...options } = setting.options ?? {};
    const fresh = { ...setting, options };
    const { trace: again } = await runOnce(plan, fresh, { isWatched: false, seeks: unplaced });
    return { ...trace, ...(again.unsimulated && { unsimulated: again.unsimulated }) };
  }
  const { trace: again } = await runOnce(plan, setting, { isWatched: true, change });
  if (again.ending.kind === 'failed') return again;
  if (change === null) return trace;
  const error = `it, or another process, ${sharedChangeText(change)}`;
  const [{ name: process } = { name: '' }] = plan.clients;
  return { ...trace, ending: { kind: 'failed', process, error } };
}

/** A run, with the change that it made to shared objects, or null. */
interface Ran {
  readonly trace: Trace;
  readonly change: SharedChange | null;
  /** Driver methods that were called from an unknown place and sent unsimulated commands. */
  readonly unplaced: ReadonlySet<string>;
}

interface Watching {
  /** True to check shared objects and real work after each step. */
  readonly isWatched: boolean;
  readonly change?: SharedChange | null;
  /** Methods whose callers are recorded. */
  readonly seeks?: ReadonlySet<string>;
}

async function runOnce(
  plan: Plan,
  { fill, log, watcher, options }: RunSetting,
  { isWatched, change = null, seeks }: Watching,
): Promise<Ran> {
  const { hosts } = plan.system;
  // Without hosts, a run begins synchronously.
  const openHosts = hosts === undefined ? () => {} : await hostsOpener(hosts);
  const epochUs = plan.epochUs ?? ASYNC_EPOCH_US;
  const world = new World(plan, log, { epochUs, interventions: options?.interventions ?? [] });
  if (options?.realms !== undefined) takeFrom(options.realms, world);
  const asyncWorld = new AsyncWorld(world, openHosts);
  const { printed } = asyncWorld;
  const empty = printingTo(printed, () => fill(plan, asyncWorld));
  const restoreGlobals = virtualizeGlobals(options);
  const restoreFailures = routedFailures.use();
  const ceaseNoting = options?.notesAwaits === true ? notedAwaits.use() : () => {};
  const { unsimulated } = asyncWorld;
  const ceaseSeeking = seeks === undefined ? () => {} : unsimulated.seek(seeks);
  const ceaseBlaming = isWatched ? blameForRealWork() : () => {};
  sharedState.renew();
  const blame = isWatched ? blameForChanges(change) : null;
  try {
    const whenStepped = blame?.look ?? (() => {});
    const ran = await drive(world.runInTurns(watcher), { whenStepped, printed });
    const trace = asyncWorld.traceOf(ran, plan.limits);
    blame?.end();
    return { trace, change: sharedState.takeBack(), unplaced: unsimulated.unplaced };
  } finally {
    blame?.end();
    asyncWorld.close();
    giveBackDefaults();
    empty?.();
    ceaseBlaming();
    ceaseSeeking();
    ceaseNoting();
    restoreFailures();
    restoreGlobals();
  }
}

/**
 * Opens the addresses in the plan's `hosts`. Loads the simulated Redis, which is large, only if a
 * plan uses it. A host that the lock does not add itself becomes a Redis node.
 */
async function hostsOpener(
  hosts: NonNullable<Plan['system']['hosts']>,
): Promise<(world: World) => void> {
  const { listenAs } = await import('../network/redis-hosts.ts');
  const named = Object.entries(hosts).sort(([a], [b]) => (a < b ? -1 : 1));
  return (world) => {
    for (const [address, name] of named) listenAs(name, world, address);
  };
}

/** Events per row. The rest of the thread waits about 0.1 ms for a row. */
const ROW = 64;
/** Extra callbacks after a row, which run leftover jobs before the rest of the thread. */
const IDLE_SLOTS = 8;

/**
 * True after a job threw an uncaught error. Node then runs the remaining jobs only after the next
 * callback, which therefore must not be the next step.
 */
let areJobsLeft = false;

function hadJobsLeft(): boolean {
  const were = areJobsLeft;
  areJobsLeft = false;
  return were;
}

/**
 * Runs all events. Calls `whenStepped` after each step's jobs, while the process is still current.
 */
function drive(
  turns: Generator<void, Trace, void>,
  { whenStepped, printed }: { readonly whenStepped: () => void; readonly printed: Printed },
): Promise<Trace> {
  const next = (): IteratorResult<void, Trace> => turns.next();
  return new Promise((resolve, reject) => {
    let isOver = false;
    const step = (): void => {
      if (isOver || hadJobsLeft()) return;
      whenStepped();
      try {
        const { done, value } = printingTo(printed, next);
        if (done === true) {
          isOver = true;
          resolve(value);
        }
      } catch (error) {
        isOver = true;
        reject(error);
      }
    };
    const row = (): void => {
      for (let at = 0; at < ROW; at += 1) inRealTurn(step);
      for (let at = 0; at < IDLE_SLOTS; at += 1) inRealTurn(hadJobsLeft);
      inRealTurn(rest);
    };
    const rest = (): void => {
      if (hadJobsLeft()) {
        inRealTurn(rest);
        return;
      }
      whenStepped();
      ambient.current = null; // the jobs of the last step have run
      if (!isOver) row();
    };
    row();
  });
}

const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;

const emitter: NodeJS.EventEmitter = process;

/** The original listeners, by event. */
let before: ReadonlyMap<string, readonly AnyFunction[]> = new Map();

const routers: ReadonlyMap<string, AnyFunction> = new Map(
  EVENTS.map((event) => [event, (...args: unknown[]) => route(event, args)]),
);

function listen(): void {
  before = new Map(EVENTS.map((event) => [event, emitter.rawListeners(event).filter(isFunction)]));
  for (const [event, router] of routers) {
    emitter.removeAllListeners(event);
    emitter.on(event, router);
  }
}

function stopListening(): void {
  for (const [event, router] of routers) {
    emitter.off(event, router);
    for (const listener of before.get(event) ?? []) emitter.on(event, listener);
  }
  before = new Map();
}

/** Routes uncaught errors to the current simulated process while in use. */
export const routedFailures: Shared = new Shared(listen, stopListening);

function route(event: string, args: readonly unknown[]): void {
  const { current } = ambient;
  if (current !== null) {
    areJobsLeft ||= event === 'uncaughtException';
    const [error] = args;
    const text = errorText(error);
    // The code did not handle a fault of the world: Node ends such a process.
    const isWorlds = event === 'unhandledRejection' && !isMistake(error);
    current.fail(error, isWorlds ? `unhandled rejection: ${text}` : text);
    return;
  }
  const listeners = before.get(event) ?? [];
  for (const listener of listeners) Reflect.apply(listener, process, args);
  if (listeners.length > 0) return;
  // Without listeners, let Node handle the error as usual.
  stopListening();
  inRealTurn(() => {
    throw args[0];
  });
}
