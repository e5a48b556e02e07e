/**
 * Plan → Trace for a world that is filled with clients of real asynchronous code. The same
 * scheduler runs the same events; after each that woke such a client its jobs run, all of them,
 * before the next.
 *
 * Jobs run to their end between two callbacks of the real `setImmediate`, and nothing else of the
 * thread does: so a turn is prepared as a row of such callbacks, one for an event, and between rows
 * the rest of the thread has its turn, for which no simulated process runs.
 *
 * What it cannot see, unless modules are loaded through `host/realm`: one that is loaded by
 * `import()` during a run comes when the disk gives it (load it before, with `loadVirtually`), and
 * what it keeps is shared by all processes and runs. And jobs that make new jobs for ever hang the
 * thread, as they do in production.
 */

import process from 'node:process';
import type { Trace } from '../../core/history/trace.ts';
import { ASYNC_EPOCH_US } from '../../core/plan/duration.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { DrawLog } from '../../core/world/choices.ts';
import { SystemFailure } from '../../core/world/failure.ts';
import { Pinning } from '../../core/world/pinning.ts';
import { type RunWatcher, World } from '../../core/world/world.ts';
import { errorText } from '../../text/error-text.ts';
import { hostsOf } from '../network/hosts.ts';
import { type RealmBlock, takeFrom } from '../realm/realm-blocks.ts';
import { ambient, inRealTurn } from './ambient.ts';
import { areTracked } from './async-context.ts';
import { AsyncHost, type AsyncProgram } from './async-host.ts';
import { blameForRealWork, hasMore, realWork } from './escapes.ts';
import { type SharedChange, sharedState } from './global-objects.ts';
import { type GlobalsOptions, virtualizeGlobals } from './globals.ts';
import { giveBackDefaults } from './own-process.ts';
import { type AnyFunction, isFunction, Shared } from './patches.ts';
import { Printed, printingTo, withOutput } from './printing.ts';
import { isMistake } from './section-error.ts';
import { UnsimulatedLog } from './unsimulated.ts';
import { notedAwaits } from './waits.ts';
import { blameForChanges, sharedChangeText } from './walk.ts';

/** Where a system puts its servers and clients. */
export class AsyncWorld {
  readonly world: World;
  /** Lets servers listen where its plan says so; to be called once the lock's own were added. */
  readonly openHosts: () => void;
  readonly printed: Printed = new Printed();
  private readonly hosts: AsyncHost[] = [];
  readonly unsimulated: UnsimulatedLog = new UnsimulatedLog();

  constructor(world: World, openHosts: (world: World) => void) {
    this.world = world;
    this.openHosts = () => openHosts(world);
  }

  /** Adds a client that runs `program`; `pool` is how many connections it has to each server. */
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

  /** The trace of its run, with failures that were noticed only after its last event. */
  traceOf(trace: Trace, { endUs }: Plan['limits']): Trace {
    const { ending, events } = trace;
    // Without a limit nothing was left to happen, and whoever waits would wait for ever.
    let endedAtUs = Number.POSITIVE_INFINITY;
    if (ending.kind === 'cut')
      endedAtUs = ending.limit === 'end' ? endUs : (events.at(-1)?.atUs ?? 0);
    if (ending.kind !== 'failed') for (const host of this.hosts) host.endTalks(endedAtUs);
    for (const host of this.hosts) host.noteFailure();
    const { world, unsimulated } = this;
    const ended = { ...this.withFailure(trace), sections: world.sections, ...unsimulated.counts };
    return withOutput(ended, this.printed);
  }

  /** The trace of a run that failed where code went on that had no business to. */
  private withFailure(trace: Trace): Trace {
    const failure = this.hosts.map((host) => host.failure).find((found) => found !== null) ?? null;
    if (failure === null || trace.ending.kind === 'failed') return trace;
    if (!(failure instanceof SystemFailure)) throw failure;
    return { ...trace, ending: failure.ending };
  }

  /** No program has any effect any more. */
  close(): void {
    for (const host of this.hosts) host.close();
  }
}

/**
 * Puts a plan's system together. It is called once for each run, and keeps nothing from before.
 * What it returns, if anything, is called after the run.
 */
export type Fill = (plan: Plan, world: AsyncWorld) => undefined | (() => void);

/** Runs a plan: the same plan gives the same trace, as long as its programs share nothing. */
export function runFilled(
  plan: Plan,
  fill: Fill,
  options?: RunManner,
  watcher: RunWatcher | null = null,
): Promise<Trace> {
  return runIn(plan, { fill, log: null, watcher, options });
}

/**
 * The plan that leaves nothing to chance and gives a trace with the same digest, as `pin` does for
 * other systems.
 */
export async function pinFilled(plan: Plan, fill: Fill, options?: GlobalsOptions): Promise<Plan> {
  if (plan.chance === null) return plan;
  const pinning = new Pinning();
  const { log, watcher } = pinning;
  await runIn(plan, { fill, log, watcher, options });
  return pinning.pinned(plan);
}

/** How a run is carried out, which changes nothing of what happens in it. */
export interface RunManner extends GlobalsOptions {
  /** Where its processes take their realms from; absent: each start has a new one. */
  readonly realms?: RealmBlock;
  /** Whether it notes where a section that never ends waits, which takes time. */
  readonly notesAwaits?: boolean;
}

interface RunSetting {
  readonly fill: Fill;
  readonly log: DrawLog | null;
  readonly watcher: RunWatcher | null;
  readonly options: RunManner | undefined;
}

/**
 * Where the first process of a thread looked at its context, runs it again as all later runs are.
 * Where something was changed that all processes share, or real work is left, runs it again and
 * looks at each step: so whose code did it is known, unless that does so only once.
 */
async function runIn(plan: Plan, setting: RunSetting): Promise<Trace> {
  // Runs for a log or a watcher come after others of their plan, and only once.
  const isOnly = setting.log !== null || setting.watcher !== null;
  if (isOnly) return (await runOnce(plan, setting, { isWatched: true })).trace;
  const wereTracked = areTracked();
  const before = realWork();
  const { trace, change, unplaced } = await runOnce(plan, setting, { isWatched: false });
  if (areTracked() !== wereTracked) return runIn(plan, setting);
  if (change === null && !hasMore(realWork(), before)) {
    if (unplaced.size === 0) return trace;
    // The next run of a block is to find its realms as this run has left them.
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

/** A run, and what was changed in it that others share. */
interface Ran {
  readonly trace: Trace;
  readonly change: SharedChange | null;
  /** The methods of drivers by which commands were sent that are not simulated, from nowhere. */
  readonly unplaced: ReadonlySet<string>;
}

interface Watching {
  /** Whether it is looked at after each step, and what it is known to change. */
  readonly isWatched: boolean;
  readonly change?: SharedChange | null;
  /** Methods whose callers are to be noted. */
  readonly seeks?: ReadonlySet<string>;
}

async function runOnce(
  plan: Plan,
  { fill, log, watcher, options }: RunSetting,
  { isWatched, change = null, seeks }: Watching,
): Promise<Ran> {
  const { hosts } = plan.system;
  // Without any, a run begins within the call.
  const openHosts = hosts === undefined ? () => {} : await hostsOpener(hosts);
  const world = new World(plan, log, plan.epochUs ?? ASYNC_EPOCH_US);
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
 * Opens what a plan names in `hosts`: a Redis is large, and loaded only where a plan has some. One
 * that the lock itself does not add is a Redis node, so that a lock whose code connects by itself
 * needs no line for its server.
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

/** Events of one row; the rest of the thread waits for about a tenth of a millisecond. */
const ROW = 64;
/** Callbacks behind them, for jobs that are left: the turn is not to end before these have run. */
const SPARE = 8;

/**
 * A job threw, and nobody caught that: Node goes on with the jobs behind it only after the next
 * callback, which therefore must not be the next step.
 */
let areJobsLeft = false;

function hadJobsLeft(): boolean {
  const were = areJobsLeft;
  areJobsLeft = false;
  return were;
}

/** Calls `whenStepped` where the jobs of a step have run, before whose they were is forgotten. */
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
      for (let at = 0; at < SPARE; at += 1) inRealTurn(hadJobsLeft);
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

/** Who listened before anybody asked for it. */
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

/** Failures that no code caught go to the current simulated process. */
export const routedFailures: Shared = new Shared(listen, stopListening);

function route(event: string, args: readonly unknown[]): void {
  const { current } = ambient;
  if (current !== null) {
    areJobsLeft ||= event === 'uncaughtException';
    const [error] = args;
    const text = errorText(error);
    // What the world did to a process, and its code let pass: Node ends such a process.
    const isWorlds = event === 'unhandledRejection' && !isMistake(error);
    current.fail(error, isWorlds ? `nobody handled its rejection: ${text}` : text);
    return;
  }
  const listeners = before.get(event) ?? [];
  for (const listener of listeners) Reflect.apply(listener, process, args);
  if (listeners.length > 0) return;
  // Nobody listened, so Node is to do what it does then.
  stopListening();
  inRealTurn(() => {
    throw args[0];
  });
}
