/** The evidence and the commands of a finding, which several reports share. */
import type { Evidence } from '../check/verdict.ts';
import type { ExhaustScope } from '../scenario/scenario.ts';
import type { Finding } from '../search/campaign/result.ts';
import { FENCEPOST } from '../text/prose.ts';

/**
 * Returns the events that every picture must show: the evidence, and the causes found by comparison
 * with neighboring runs. The arrival of a message is omitted if its handling is shown.
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

/** Returns `… replay <plan>` as words, with the folder of the plan's modules if it has any. */
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
 * Returns `… run <scenario> --seed N` as words, or the command that repeats an exhaustive search.
 * Needs only the scenario file.
 */
export function rerunCommand(finding: Finding): readonly string[] {
  const { scenarioTyped, scenarioFile, seed, exhaust } = finding;
  const flags = exhaust === undefined ? ['--seed', String(seed)] : exhaustFlags(exhaust);
  return [...FENCEPOST, 'run', scenarioTyped ?? scenarioFile, ...flags];
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

/** Returns, as words, the command that keeps the plan so that `run` replays it first. */
export function keepCommand(finding: Finding): readonly string[] {
  const { planFile, keptIn } = finding;
  const corpus = keptIn === '' ? [] : ['--corpus', keptIn.replace(/\/$/, '')];
  return [...FENCEPOST, 'corpus', 'add', planFile, ...corpus, ...modulesOf(finding)];
}
