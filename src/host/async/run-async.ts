/**
 * Every system, whether its clients are generators or real asynchronous code: plan → trace, the
 * plan that leaves nothing to chance, and the harness, which does for both what `harness.ts` does
 * for generators.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { openSections, type Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Tried } from '../../core/shrink/search.ts';
import { type ShrinkResult, shrinkWithAsync } from '../../core/shrink/shrink.ts';
import type { RunWatcher } from '../../core/world/world.ts';
import type { Examination, ShrinkFailureOptions } from '../../harness.ts';
import { answersWith, expectsBreach, judgeRun } from '../../harness.ts';
import { ownParts } from '../../parts.ts';
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
import { type Fill, pinFilled, type RunManner, runFilled } from './run-filled.ts';
import { walked } from './walk.ts';
import { runName, within } from './whereabouts.ts';

/**
 * Runs a plan of a system made of `parts`: the same plan gives the same trace, as long as the
 * clients share nothing but messages. Rejects with `UnknownSystem`, and with `UnpreparedSystem`
 * where a store is to be loaded first.
 *
 * It runs the system's code on the caller's thread, and nothing ends that: a loop in it never
 * returns. The command line runs it on a thread that it can end.
 */
export async function runAsync(
  plan: Plan,
  parts: SystemParts = ownParts,
  options?: GlobalsOptions,
): Promise<Trace> {
  return await watched(plan, parts, () => runUnwatched(plan, parts, options));
}

/** Runs a plan, and says meanwhile which. */
function watched<T>(plan: Plan, parts: SystemParts, code: () => T): T {
  return within(() => runName(plan), isOwn(parts), code);
}

function isOwn(parts: SystemParts): boolean {
  return parts === ownParts || parts === builtIn;
}

/** Runs a plan of a system whose code is not asynchronous. */
function runHere(plan: Plan, parts: SystemParts): Trace {
  if (isOwn(parts)) return run(plan, parts);
  const { kept: trace, printed } = printedBy(() => run(plan, parts));
  return withOutput(trace, printed);
}

/** What code of users that is not asynchronous returns, and what it prints. */
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
  if (!isAsync(plan, parts)) return runHere(plan, parts);
  const restore = virtualizeGlobals(options);
  try {
    requirePrepared(plan, parts);
    return await runFilled(plan, fillOf(parts), options);
  } finally {
    // Most runs are followed by another at once, and to change the globals takes as long as one.
    inRealTurn(restore);
  }
}

/** Runs a plan, and tells a watcher of each event before it happens. */
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

/** The plan that leaves nothing to chance and gives a trace with the same digest. */
export async function pinAsync(
  plan: Plan,
  parts: SystemParts = ownParts,
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
 * Runs a plan and judges `claims`; a promise only where clients are asynchronous code. On the
 * caller's thread, as `runAsync` does.
 */
export function examineEither(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
  options?: RunManner,
): Examination | Promise<Examination> {
  const judge = (trace: Trace): Examination => {
    const areOwn = claims.every((claim) => builtIn.claims.has(claim));
    const judged = (): Examination => judgeRun(plan, trace, claims, catalogue);
    if (isOwn(catalogue)) return within(null, true, judged);
    const { kept: examined, printed } = printedBy(() => within(null, areOwn, judged));
    return { ...examined, trace: withOutput(trace, printed) };
  };
  if (!isAsync(plan, catalogue))
    return judge(watched(plan, catalogue, () => runHere(plan, catalogue)));
  return watched(plan, catalogue, () => runUnwatched(plan, catalogue, options)).then(judge);
}

/**
 * Runs a plan and judges `claims`; what both name is looked up in the catalogue. If a section never
 * ends, runs it again and notes where that waits. A run fails that changes anything that all
 * processes share, wherever it can be reached.
 */
export async function examineAsync(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Promise<Examination> {
  if (!isAsync(plan, catalogue)) return await examineEither(plan, claims, catalogue);
  return await walked(() => examineFully(plan, claims, catalogue));
}

async function examineFully(
  plan: Plan,
  claims: readonly string[],
  catalogue: Catalogue,
): Promise<Examination> {
  const examined = await examineEither(plan, claims, catalogue);
  const { ending } = examined.trace;
  const isHung = ending.kind !== 'failed' && openSections(examined.trace).length > 0;
  if (!isHung) return examined;
  return await examineEither(plan, claims, catalogue, { notesAwaits: true });
}

/** Expands one seed of one system of a scenario, runs it and judges `claims`. */
export function examineSeedAsync(
  scenario: Scenario,
  system: string,
  seed: number,
  claims: readonly string[],
  catalogue: Catalogue = builtIn,
): Promise<Examination> {
  return examineAsync(expand(scenario, system, seed), claims, catalogue);
}

export interface ShrinkAsyncOptions extends ShrinkFailureOptions {
  /** Waited for before each run, so that others get a turn. */
  readonly breathe?: () => Promise<void>;
}

/**
 * Pins a plan that breaks `claim` and shrinks it; the result says what a replay should find. On the
 * caller's thread, as `runAsync` does.
 *
 * Most of a run with a real driver is the loading of it. So candidates use modules again where a
 * sweep may; what comes of that has to run the same with all of them loaded anew, or the plan is
 * shrunk so.
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
  { catalogue = builtIn, breathe, ...options }: ShrinkAsyncOptions,
): Promise<ShrinkResult> {
  const pinned = expectsBreach(await pinAsync(plan, catalogue), claim);
  const shrinkIn = (manner: RunManner): Promise<ShrinkResult> => {
    const answer = answersWith(claim);
    const stillBreaks = async (candidate: Plan): Promise<Tried> => {
      await breathe?.();
      return answer(await examineEither(candidate, [claim], catalogue, manner));
    };
    return shrinkWithAsync(pinned, stillBreaks, options);
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
