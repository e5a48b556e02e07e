/**
 * Runs, pins, examines and shrinks plans of any system, whether its clients are generators or
 * asynchronous code.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { openSections, type Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { answerAllAsync, type ShrinkResult } from '../../core/shrink/shrink.ts';
import type { RunWatcher } from '../../core/world/world.ts';
import type { SeedResult, ShrinkFailureOptions } from '../../harness.ts';
import { expectsBreach, judgeRun, shrinkBreach } from '../../harness.ts';
import { builtInParts } from '../../parts.ts';
import { digestOf, pin, run, runWatched } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { SystemParts } from '../../systems/assemble.ts';
import { assemble, isAsync, requirePrepared } from '../../systems/assemble.ts';
import { graphToReuse, RealmBlock } from '../realm/realm-blocks.ts';
import { inRealTurn } from './ambient.ts';
import { clientProgram } from './client-program.ts';
import { type GlobalsOptions, virtualizeGlobals } from './globals.ts';
import { capturedOutput, Printed, printingTo, withOutput } from './printing.ts';
import { runName, within } from './progress-beacon.ts';
import { type Fill, pinFilled, type RunManner, runFilled } from './run-filled.ts';
import { walked } from './walk.ts';

/**
 * Runs a plan of a system made of `parts`. The same plan gives the same trace as long as the
 * clients share nothing but messages. Rejects with `UnknownSystem`, or with `UnpreparedSystem` if a
 * store must be loaded first.
 *
 * The system's code runs on the caller's thread without a watchdog, so an endless loop never
 * returns.
 */
export async function runAsync(
  plan: Plan,
  parts: SystemParts = builtInParts,
  options?: GlobalsOptions,
): Promise<Trace> {
  return await watched(plan, parts, () => runUnwatched(plan, parts, options));
}

function watched<T>(plan: Plan, parts: SystemParts, code: () => T): T {
  return within(() => runName(plan), isBuiltIn(parts), code);
}

function isBuiltIn(parts: SystemParts): boolean {
  return parts === builtInParts || parts === builtIn;
}

function runHere(plan: Plan, parts: SystemParts, options?: RunManner): Trace {
  const code = (): Trace => run(plan, parts, options?.interventions);
  if (isBuiltIn(parts)) return code();
  const { kept: trace, printed } = printedBy(code);
  return withOutput(trace, printed);
}

/** Returns the result of synchronous user code with its output. */
function printedBy<T>(code: () => T): { readonly kept: T; readonly printed: Printed } {
  const printed = new Printed();
  const restore = capturedOutput.use();
  try {
    return { kept: printingTo(printed, code), printed };
  } finally {
    restore();
  }
}

async function runUnwatched(plan: Plan, parts: SystemParts, options?: RunManner): Promise<Trace> {
  if (!isAsync(plan, parts)) return runHere(plan, parts, options);
  const restore = virtualizeGlobals(options);
  try {
    requirePrepared(plan, parts);
    return await runFilled(plan, fillOf(parts), options);
  } finally {
    // Restored in a later turn: the next run usually begins immediately and keeps the globals,
    // since replacing them takes as long as a run.
    inRealTurn(restore);
  }
}

/** Runs a plan and notifies a watcher before each event. */
export async function watchAsync(
  plan: Plan,
  parts: SystemParts,
  watcher: RunWatcher,
): Promise<Trace> {
  return await watched(plan, parts, () => {
    if (!isAsync(plan, parts)) return runWatched(plan, parts, watcher);
    requirePrepared(plan, parts);
    return runFilled(plan, fillOf(parts), undefined, watcher);
  });
}

/** Returns a plan without chance that gives a trace with the same digest. */
export async function pinAsync(
  plan: Plan,
  parts: SystemParts = builtInParts,
  options?: GlobalsOptions,
): Promise<Plan> {
  return await watched(plan, parts, () => {
    if (!isAsync(plan, parts)) return pin(plan, parts);
    requirePrepared(plan, parts);
    return pinFilled(plan, fillOf(parts), options);
  });
}

function fillOf(parts: SystemParts): Fill {
  return (plan, world) =>
    assemble(plan, world.world, parts, {
      openHosts: () => world.openHosts(),
      addClient: (setting) => {
        const { name, pool } = setting.plan;
        world.addClient(name, clientProgram(setting), { pool, role: setting.role });
      },
    });
}

/**
 * Runs a plan and judges `claims`. Returns a promise only if the clients are asynchronous code.
 * Runs on the caller's thread, as `runAsync` does.
 */
export function examineEither(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
  options?: RunManner,
): SeedResult | Promise<SeedResult> {
  const judge = (trace: Trace): SeedResult => {
    const areBuiltIn = claims.every((claim) => builtIn.claims.has(claim));
    const judged = (): SeedResult => judgeRun(plan, trace, claims, catalogue);
    if (isBuiltIn(catalogue)) return within(null, true, judged);
    const { kept: examined, printed } = printedBy(() => within(null, areBuiltIn, judged));
    return { ...examined, trace: withOutput(trace, printed) };
  };
  if (!isAsync(plan, catalogue))
    return judge(watched(plan, catalogue, () => runHere(plan, catalogue, options)));
  return watched(plan, catalogue, () => runUnwatched(plan, catalogue, options)).then(judge);
}

/**
 * Runs a plan and judges `claims`. If a section never ends, runs the plan again to record where the
 * section waits. A run fails if it changes any reachable object that all processes share.
 */
export async function examineAsync(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Promise<SeedResult> {
  if (!isAsync(plan, catalogue)) return await examineEither(plan, claims, catalogue);
  return await walked(() => examineFully(plan, claims, catalogue));
}

async function examineFully(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue,
): Promise<SeedResult> {
  const examined = await examineEither(plan, claims, catalogue);
  const { ending } = examined.trace;
  const isHung = ending.kind !== 'failed' && openSections(examined.trace).length > 0;
  if (!isHung) return examined;
  return await examineEither(plan, claims, catalogue, { notesAwaits: true });
}

/** Expands one seed of one system of a scenario, runs the plan and judges `claims`. */
export function examineSeedAsync(
  scenario: Scenario,
  system: string,
  seed: number,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Promise<SeedResult> {
  return examineAsync(expand(scenario, system, seed), claims, catalogue);
}

export interface ShrinkAsyncOptions extends ShrinkFailureOptions {
  /** Awaited before each run, to give other work a turn. */
  readonly yieldToEventLoop?: () => Promise<void>;
}

/**
 * Pins a plan that breaks `claim` and shrinks it. The result states what a replay should find. Runs
 * on the caller's thread, as `runAsync` does.
 *
 * Loading modules takes most of the time of a run, so candidates reuse modules if a sweep would.
 * The resulting plan must give the same trace with freshly loaded modules; otherwise shrinking is
 * repeated without reuse.
 */
export async function shrinkFailureAsync(
  plan: Plan,
  claim: string,
  options: ShrinkAsyncOptions = {},
): Promise<ShrinkResult> {
  const shrink = (): Promise<ShrinkResult> => shrinkPinned(plan, claim, options);
  return await (isAsync(plan, options.catalogue ?? builtIn) ? walked(shrink) : shrink());
}

async function shrinkPinned(
  plan: Plan,
  claim: string,
  { catalogue = builtIn, yieldToEventLoop, ...options }: ShrinkAsyncOptions,
): Promise<ShrinkResult> {
  const pinned = expectsBreach(await pinAsync(plan, catalogue), claim);
  const shrinkIn = (manner: RunManner): Promise<ShrinkResult> => {
    return answerAllAsync(shrinkBreach(pinned, claim, options), async (candidate) => {
      await yieldToEventLoop?.();
      return await examineEither(candidate, [claim], catalogue, manner);
    });
  };
  if (graphToReuse(catalogue.locks.get(plan.system.lock)?.buildAsync) === null) return shrinkIn({});
  const realms = new RealmBlock();
  const shrunk = await shrinkIn({ realms });
  const digestIn = async (manner: RunManner): Promise<string> =>
    digestOf((await examineEither(shrunk.plan, [], catalogue, manner)).trace);
  const isSame =
    shrunk.reproduced !== false && (await digestIn({ realms })) === (await digestIn({}));
  return isSame ? shrunk : shrinkIn({});
}
