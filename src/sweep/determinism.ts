/** Runs a seed twice and names the first event that differs: the check that a run is a function of its plan. */
import { canonical, run } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** Null when both runs gave the same events; else what differs first, in words. */
export function findDifference(scenario: Scenario, system: string, seed: number): string | null {
  const first = run(expand(scenario, system, seed)).events;
  const second = run(expand(scenario, system, seed)).events;
  const length = Math.max(first.length, second.length);
  for (let at = 0; at < length; at += 1) {
    if (JSON.stringify(first[at]) === JSON.stringify(second[at])) continue;
    const here = textOf(first[at]);
    const there = textOf(second[at]);
    return `event ${at} differs: first ${here}, then ${there}`;
  }
  return null;
}

function textOf(event: object | undefined): string {
  return event === undefined ? 'nothing' : canonical(event);
}
