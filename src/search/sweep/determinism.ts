/**
 * Runs a seed twice and names the first event that differs: a run must be a function of its plan.
 */

import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import { runAsync } from '../../host/async/run-async.ts';
import { canonical } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';

/** Null when both runs gave the same events; else what differs first, in words. */
export async function repeatSeed(
  scenario: Scenario,
  system: string,
  seed: number,
  catalogue: Catalogue = builtIn,
): Promise<string | null> {
  const once = (): Promise<Trace> => runAsync(expand(scenario, system, seed), catalogue);
  return firstDifference(await once(), await once());
}

/** What differs first between two traces, in words; null when nothing does. */
export function firstDifference(first: Trace, second: Trace): string | null {
  const length = Math.max(first.events.length, second.events.length);
  for (let at = 0; at < length; at += 1) {
    const here = textOf(first.events[at]);
    const there = textOf(second.events[at]);
    if (here !== there) return `event ${at} differs: first ${here}, then ${there}`;
  }
  return first.ending.kind === second.ending.kind ? null : 'the runs ended differently';
}

function textOf(event: object | undefined): string {
  return event === undefined ? 'nothing' : canonical(event);
}
