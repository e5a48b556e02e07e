/**
 * Describes an exhaustive search in reports: plans instead of seeds, and the scope instead of a
 * bound. The text claims no proof, since other latencies, more clients and lengths between the
 * thresholds were not tried. Also describes the shortest fault that breaks a claim.
 */
import { proseDuration } from '../core/plan/duration.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type {
  EdgePoint,
  ExhaustedScope,
  Finding,
  SystemEdges,
  SystemResult,
} from '../search/campaign/result.ts';
import { MOST_PLANS } from '../search/exhaust/exhaust.ts';
import type { TerminalText } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { hang, visible } from '../text/visible.ts';

/** The word for one run of a system, by seed or by plan number. */
export type Trial = 'seed' | 'plan';

export function trialOf({ exhausted }: Pick<SystemResult, 'exhausted'>): Trial {
  return exhausted === undefined ? 'seed' : 'plan';
}

/** Returns the word for the trials of several systems of one command. */
export function trialOfAll(systems: readonly Pick<SystemResult, 'exhausted'>[]): Trial {
  return systems.some(({ exhausted }) => exhausted !== undefined) ? 'plan' : 'seed';
}

/** Returns `seed 93` or `plan 93`. */
export function trialText({ seed, exhaust }: Pick<Finding, 'seed' | 'exhaust'>): string {
  return `${exhaust === undefined ? 'seed' : 'plan'} ${seed}`;
}

/**
 * Returns
 * `exhausted: ≤ 2 faults of pause, delay; lengths at every threshold; latency 1 ms; 6,919 plans`.
 * Also gives the number of examined plans if not all were examined. Returns '' for seeds.
 */
export function exhaustedText(system: SystemResult): string {
  return system.exhausted === undefined ? '' : exhaustedTextOf([system]);
}

type Examined = Pick<SystemResult, 'seeds' | 'exhausted'>;

/** Describes several systems by their common properties. */
export function exhaustedTextOf(systems: readonly Examined[]): string {
  const scopes = systems.flatMap(({ exhausted }) => (exhausted === undefined ? [] : [exhausted]));
  const same = (of: (scope: ExhaustedScope) => string): string => {
    const [text = '', ...others] = new Set(scopes.map(of));
    return others.length === 0 ? text : '';
  };
  const faults = same((scope) => `≤ ${countOf(scope.faults, 'fault')}`);
  const kinds = same((scope) => scope.kinds.join(', '));
  const swaps = same(({ ties }) => (ties === 0 ? '' : `≤ ${countOf(ties, 'swap')} of ties`));
  const latency = same(({ latencyUs }) => `latency ${proseDuration(latencyUs)}`);
  const isComplete = systems.every(({ seeds, exhausted }) => seeds >= (exhausted?.plans ?? 0));
  const parts = [
    kinds === '' ? faults : `${faults} of ${kinds}`,
    swaps,
    'lengths at every threshold',
    latency,
    isComplete ? spanText(scopes.map(({ plans }) => plans)) : shareText(systems),
  ];
  return `${isComplete ? '' : 'not '}exhausted: ${parts.filter((part) => part !== '').join('; ')}`;
}

/** Returns `6,919 plans`, or `6,919 to 7,104 plans`. */
function spanText(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most
    ? countOf(most, 'plan')
    : `${groupDigits(least)} to ${countOf(most, 'plan')}`;
}

function shareText(systems: readonly Examined[]): string {
  const sum = (of: (system: Examined) => number): number =>
    systems.reduce((total, system) => total + of(system), 0);
  const all = sum(({ exhausted }) => exhausted?.plans ?? 0);
  return `${groupDigits(sum(({ seeds }) => seeds))} of ${countOf(all, 'plan')}`;
}

/** Returns, for example, `≤ 2 faults of pause, delay and ≤ 1 swap of ties`. */
export function faultsText(scenario: Scenario): string {
  const { faults = 0, ties = 0 } = scenario.exhaust ?? {};
  const swaps = ties === 0 ? '' : ` and ≤ ${countOf(ties, 'swap')} of ties`;
  const kinds = [...new Set(scenario.faults.map(({ kind }) => kind))];
  return `≤ ${countOf(faults, 'fault')} of ${kinds.join(', ')}${swaps}`;
}

/** Returns the reason why a system with this many plans is refused. */
export function tooManyText(scenario: Scenario, plans: number): string {
  const most = groupDigits(MOST_PLANS);
  const isGuess = plans > 2 * MOST_PLANS;
  const about = `about ${groupDigits(Math.ceil(plans / MOST_PLANS) * MOST_PLANS)} plans`;
  const many = isGuess ? about : `more than ${most} plans`;
  return `${many} with ${faultsText(scenario)}; the limit is ${most}`;
}

interface EdgeText extends Pick<TerminalText, 'width'> {
  /** A prefix for the names of systems: `zombie-writer/` if there are several scenarios. */
  readonly within?: string;
}

/**
 * Renders a line per system, kind of fault and group of claims with equal edges, such as
 * `unfenced: grant-order breaks with a pause over 10 ms at ttl 10 ms; over 20 ms at ttl 20 ms`.
 * Returns '' if there are no edges.
 */
export function renderEdges(
  systems: readonly Pick<SystemResult, 'name' | 'edges'>[],
  { width, within = '' }: EdgeText,
): string {
  return systems
    .flatMap(({ name, edges }) => {
      if (edges === undefined) return [];
      const system = `${within}${name}`;
      const { givenUp } = edges;
      const sentences = edgeSentences(system, edges);
      if (givenUp.length === 0) return sentences;
      const kinds = givenUp.join(', ');
      return [...sentences, `${system}: shortest breaking ${kinds} not found (too many runs)`];
    })
    .flatMap((text) => hang(visible(text), Math.max(20, width - 4), '  ', '    '))
    .join('\n');
}

function edgeSentences(system: string, { points }: SystemEdges): readonly string[] {
  const claims = new Map<string, Set<string>>();
  for (const { kind, claim } of points) {
    const matching = points.filter((point) => point.kind === kind && point.claim === claim);
    // No length or every length of this fault breaks the claim, so there is no edge.
    if (matching.every(({ edgeUs }) => edgeUs === null || edgeUs === 0)) continue;
    const text = `a ${kind.replace('-', ' ')} ${matching.map(pointText).join('; ')}`;
    claims.set(text, (claims.get(text) ?? new Set()).add(claim));
  }
  return [...claims].map(([text, broken]) => {
    return `${system}: ${[...broken].join(', ')} ${broken.size === 1 ? 'breaks' : 'break'} with ${text}`;
  });
}

function pointText({ edgeUs, ttlUs }: EdgePoint): string {
  const ttl = `at ttl ${proseDuration(ttlUs)}`;
  if (edgeUs === null) return `of no length ${ttl}`;
  return edgeUs === 0 ? `of any length ${ttl}` : `over ${proseDuration(edgeUs - 1)} ${ttl}`;
}
