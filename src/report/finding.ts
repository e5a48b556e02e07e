/** Parts of a finding that several reports share: its evidence, and commands to use it again. */
import type { Evidence } from '../check/verdict.ts';
import type { ExhaustScope } from '../scenario/scenario.ts';
import type { Finding } from '../search/campaign/result.ts';
import { FENCEPOST } from '../text/prose.ts';

/**
 * What no picture leaves out: the evidence, and what runs beside it show to have caused it. That a
 * message arrived is not said beside what was done with it.
 */
export function evidenceShown({
  verdict,
  causation,
  trace,
}: Pick<Finding, 'verdict' | 'causation' | 'trace'>): readonly Evidence[] {
  const known = new Set(verdict.evidence.map(({ event }) => event));
  const handled = new Set(
    verdict.evidence.flatMap(({ event: at }) => {
      const event = trace.events[at];
      return event !== undefined && 'message' in event ? [event.message] : [];
    }),
  );
  const added = causation?.evidence.filter(({ event: at }) => {
    const event = trace.events[at];
    return !known.has(at) && !(event?.kind === 'receive' && handled.has(event.message));
  });
  return [...verdict.evidence, ...(added ?? [])];
}

/** `… replay <plan>`, as words; it says where the plan's modules lie, if it has any. */
export function replayCommand(finding: Commanded): readonly string[] {
  return [...FENCEPOST, 'replay', finding.planFile, ...modulesOf(finding)];
}

type Commanded = Pick<Finding, 'plan' | 'planFile' | 'scenarioFile'>;

function modulesOf({ plan, scenarioFile }: Commanded): readonly string[] {
  if (plan.use === undefined) return [];
  const at = scenarioFile.lastIndexOf('/');
  return ['--modules', at <= 0 ? '.' : scenarioFile.slice(0, at)];
}

/**
 * `… run <scenario> --seed N`, as words: it works where only the scenario is, as in a checkout. A
 * plan of an exhaustive search is found by the same search.
 */
export function rerunCommand(finding: Finding): readonly string[] {
  const { scenarioTyped, scenarioFile, seed, exhaust } = finding;
  const which = exhaust === undefined ? ['--seed', String(seed)] : exhaustFlags(exhaust);
  return [...FENCEPOST, 'run', scenarioTyped ?? scenarioFile, ...which];
}

function exhaustFlags({ faults, ties, clients, sections }: ExhaustScope): readonly string[] {
  return [
    '--exhaust',
    String(faults),
    ...(ties === 0 ? [] : ['--ties', String(ties)]),
    ...(clients === null ? [] : ['--clients', String(clients)]),
    ...(sections === null ? [] : ['--sections', String(sections)]),
  ];
}

/** Keeps the plan where `run` replays it first, as words. */
export function keepCommand(finding: Finding): readonly string[] {
  const { planFile, keptIn } = finding;
  const corpus = keptIn === '' ? [] : ['--corpus', keptIn.replace(/\/$/, '')];
  return [...FENCEPOST, 'corpus', 'add', planFile, ...corpus, ...modulesOf(finding)];
}
