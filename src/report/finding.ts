/**
 * A finding is one counterexample with all that a person needs to understand it, keep it and replay
 * it: plain data, put together by the commands and read by every kind of report.
 */
import type { Causation } from '../check/causation.ts';
import type { Evidence, Explanation, Invalid, Verdict } from '../check/verdict.ts';
import type { Trace } from '../core/history/trace.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { ExhaustScope } from '../scenario/scenario.ts';

export interface Finding {
  readonly scenario: string;
  readonly scenarioFile: string;
  /** The name that the scenario gives to the system. */
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  /** Where it is no seed but a plan of an exhaustive search, in which scope; absent for a seed. */
  readonly exhaust?: ExhaustScope;
  readonly explanation: Explanation;
  /** The verdict on `claim`; its evidence indexes `trace`. */
  readonly verdict: Invalid;
  /** What runs beside it show that it came from; absent where none were made. */
  readonly causation?: Causation;
  /** Every verdict on `trace`, the one on `claim` among them. */
  readonly verdicts: readonly Verdict[];
  /** The trace of the shrunk plan. */
  readonly trace: Trace;
  /** The digest of `trace`, as `sha256:…`. */
  readonly digest: string;
  /** The shrunk plan, and the same as it stands in `planFile`. */
  readonly plan: Plan;
  readonly planText: string;
  readonly size: ShrunkSize;
  /** A clause: "breaks with any pause of bob over 10 ms", or why there is none. */
  readonly boundary: string | null;
  /** The run that was shrunk, with the evidence against the same claim. Absent: not kept. */
  readonly original?: OtherRun;
  /** The nearest run that passes; absent where no boundary was found. */
  readonly nearest?: OtherRun;
  /**
   * What the same plan does on the systems that must hold, where the break was expected; absent
   * where it was not, or where no other system must hold it.
   */
  readonly siblings?: readonly SiblingLine[];
  /** The same plan on the first system that must hold its claim and does; absent for none. */
  readonly cured?: OtherRun & { readonly system: string };
  /** Whether the scenario says that it breaks; absent where it does not. */
  readonly isExpected?: boolean;
  /** The scenario as one types it behind `run`: the name of one that ships, else its file. */
  readonly scenarioTyped?: string;
  /** Paths as a person types them from the project's root; no page is written where it is ''. */
  readonly planFile: string;
  readonly pageFile: string;
  /** The folder where plans of its scenario are kept; '' where `corpus add` finds it by itself. */
  readonly keptIn: string;
}

/** A sibling as reports carry it. */
export interface SiblingLine {
  readonly system: string;
  readonly claim: string;
  /** `untested`: the plan ran, but its hazard did not arise there. */
  readonly outcome: 'holds' | 'breaks' | 'untested' | 'unknown' | 'diverged' | 'cannot-run';
  readonly text: string;
}

/** A run to set beside the counterexample. */
export interface OtherRun {
  readonly plan: Plan;
  readonly trace: Trace;
  /** Indexes `trace`; empty where the claim holds. */
  readonly evidence: readonly Evidence[];
}

/** What shrinking achieved. Both event counts are counted the same way. */
export interface ShrunkSize {
  readonly events: number;
  readonly originalEvents: number;
  readonly faults: number;
  readonly originalFaults: number;
}

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

/**
 * How every command that is printed begins: in a folder where fencepost is not installed, npx would
 * else fetch whatever has that name in the registry.
 */
export const FENCEPOST: readonly string[] = ['npx', '--no-install', 'fencepost'];

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
    ...['--exhaust', String(faults)],
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

/** Words that a POSIX shell reads back as they are. */
export function shellWords(words: readonly string[]): readonly string[] {
  return words.map((word) =>
    word === '&&' || /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
}
