/**
 * Decides what has become of a kept plan: does it still break its claim, or was it fixed, or does
 * it no longer test anything? And what becomes of the plan that broke one system of a scenario on
 * the others that must hold: the same clients, work and faults, only the system's own part is
 * theirs. So one sees what the cure does to the very same run, where a sweep only says that it held
 * on all seeds.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { BreachCause } from '../../check/breach-cause.ts';
import type { Verdict } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import { settingsOver } from '../../core/plan/client-text.ts';
import type { ClientPlan, Expectation, Plan } from '../../core/plan/plan.ts';
import { examineAsync } from '../../host/async/run-async.ts';
import { digestOf, whyRefused } from '../../run.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { suggest } from '../../text/problem.ts';

export interface Replay {
  readonly claim: string;
  /**
   * `reproduced`: the claim breaks; `fixed`: its hazard arose and it held; `diverged`: a name in
   * the plan found no match in the run; `inert`: everything matched, but the hazard no longer
   * arises.
   */
  readonly outcome: 'reproduced' | 'fixed' | 'diverged' | 'inert';
  /** The first name in the plan that found no match; null when all did. */
  readonly divergedAt: string | null;
  readonly digest: string;
  readonly trace: Trace;
  readonly verdict: Verdict;
  /** What it broke by; null where it did not. */
  readonly cause: BreachCause | null;
}

/** The claim that a replay judges when neither the plan nor the caller names one. */
const DEFAULT_CLAIM = 'grant-order';

/** A plan expects a claim, or a caller asks for one, that the catalogue does not have. */
export class UnknownClaim extends Error {}

/**
 * Runs a plan and says what became of `claim`, by default the one that it expects to break. Rejects
 * with `UnknownClaim`.
 */
export async function replay(
  plan: Plan,
  claim: string = plan.expect?.claim ?? DEFAULT_CLAIM,
  catalogue: Catalogue = builtIn,
): Promise<Replay> {
  if (!catalogue.claims.has(claim)) {
    const known = [...catalogue.claims.keys()];
    throw new UnknownClaim(`unknown claim ${JSON.stringify(claim)}${suggest(claim, known)}`);
  }
  const { trace, verdicts, causes } = await examineAsync(plan, [claim], catalogue);
  const verdict: Verdict = verdicts[0] ?? { kind: 'unknown', claim, exercised: 0, reason: '' };
  const divergedAt = trace.unmatched[0] ?? null;
  const digest = digestOf(trace);
  const cause = causes.get(claim) ?? null;
  const outcome = outcomeOf(verdict, divergedAt);
  return { claim, outcome, divergedAt, digest, trace, verdict, cause };
}

function outcomeOf(verdict: Verdict, divergedAt: string | null): Expectation['outcome'] {
  if (verdict.kind === 'invalid') return 'reproduced';
  if (divergedAt !== null) return 'diverged';
  return verdict.kind === 'valid' && verdict.exercised > 0 ? 'fixed' : 'inert';
}

/** What became of the plan on one sibling. */
export interface Sibling {
  /** The name that the scenario gives to the system. */
  readonly system: string;
  readonly claim: string;
  readonly fate:
    | { readonly kind: 'ran'; readonly plan: Plan; readonly replay: Replay }
    /** Its lock or store cannot do what the plan asks; `why` says what. */
    | { readonly kind: 'cannot-run'; readonly why: string };
}

/**
 * Runs a plan that broke a claim, drawn or shrunk from the scenario, on every sibling that must
 * hold it, in the order of the scenario; none where the claim was not expected to break. The stores
 * of all systems must be prepared.
 */
export async function runSiblings(
  scenario: Scenario,
  { plan, claim }: { readonly plan: Plan; readonly claim: string },
  catalogue: Catalogue = builtIn,
): Promise<readonly Sibling[]> {
  const own = scenario.systems.find(({ name }) => name === plan.system.name);
  if (own === undefined || !own.expect.breaks.includes(claim)) return [];
  const siblings: Sibling[] = [];
  for (const system of scenario.systems) {
    if (!system.expect.holds.includes(claim)) continue;
    const twin = planOn(plan, { scenario, from: own, to: system });
    const why = whyRefused(twin, catalogue);
    siblings.push({
      system: system.name,
      claim,
      fate:
        why === null
          ? { kind: 'ran', plan: twin, replay: await replay(twin, claim, catalogue) }
          : { kind: 'cannot-run', why },
    });
  }
  return siblings;
}

interface Move {
  readonly scenario: Scenario;
  readonly from: SystemScenario;
  readonly to: SystemScenario;
}

/** The plan with another system in it, and with what its clients do differently there. */
function planOn(plan: Plan, move: Move): Plan {
  const { name, lock, store, options, hosts } = move.to;
  const { expect: _, ...rest } = plan;
  return {
    ...rest,
    system: { name, lock, store, options, ...(hosts === undefined ? {} : { hosts }) },
    clients: plan.clients.map((client) => clientOn(client, move)),
  };
}

/** A setting in which the two systems differ is the sibling's; all others stay as they were. */
function clientOn(client: ClientPlan, { scenario, from, to }: Move): ClientPlan {
  const written = scenario.clients.find(({ name }) => name === client.name);
  if (written === undefined) return client;
  const before = new Map(Object.entries(settingsOver(written.settings, from.clients)));
  const after = Object.entries(settingsOver(written.settings, to.clients));
  const theirs = after.filter(([name, value]) => value !== before.get(name));
  return { ...client, ...Object.fromEntries(theirs) };
}
