/**
 * Replays a kept plan and classifies the outcome. Also runs a plan that broke one system of a
 * scenario on the twins that must hold the claim. Only the system and its client settings are
 * replaced. This shows how the cure changes the same run; a sweep shows only that the twin held on
 * all seeds.
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
   * `reproduced`: the claim breaks. `fixed`: the hazard arose and the claim held. `diverged`: a
   * name in the plan matched nothing in the run. `inert`: every name matched, but no hazard arose.
   */
  readonly outcome: 'reproduced' | 'fixed' | 'diverged' | 'inert';
  /** The first name in the plan without a match, or null if all names matched. */
  readonly divergedAt: string | null;
  readonly digest: string;
  readonly trace: Trace;
  readonly verdict: Verdict;
  /** The cause of the breach, or null if the claim did not break. */
  readonly cause: BreachCause | null;
}

const DEFAULT_CLAIM = 'grant-order';

/** Thrown for a claim that the catalogue does not have. */
export class UnknownClaim extends Error {}

/**
 * Runs a plan and classifies the outcome of `claim`. Default: the claim in the plan's expectation.
 * Rejects with `UnknownClaim` if the catalogue does not have the claim.
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

/** The outcome of a plan on one twin. */
export interface Sibling {
  readonly system: string;
  readonly claim: string;
  readonly fate:
    | { readonly kind: 'ran'; readonly plan: Plan; readonly replay: Replay }
    /** The twin's lock or store does not support the plan. `why` is the reason. */
    | { readonly kind: 'cannot-run'; readonly why: string };
}

/**
 * Runs a plan that broke a claim on each twin that must hold it, in scenario order. Returns no
 * twins if the claim was not expected to break. The stores of all systems must be prepared.
 */
export async function runSiblings(
  scenario: Scenario,
  { plan, claim }: { readonly plan: Plan; readonly claim: string },
  catalogue: Catalogue = builtIn,
): Promise<readonly Sibling[]> {
  const declared = scenario.systems.find(({ name }) => name === plan.system.name);
  if (declared === undefined || !declared.expect.breaks.includes(claim)) return [];
  const siblings: Sibling[] = [];
  for (const system of scenario.systems) {
    if (!system.expect.holds.includes(claim)) continue;
    const twin = planOn(plan, { scenario, from: declared, to: system });
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

function planOn(plan: Plan, move: Move): Plan {
  const { name, lock, store, options, hosts } = move.to;
  const { expect: _, ...rest } = plan;
  return {
    ...rest,
    system: { name, lock, store, options, ...(hosts === undefined ? {} : { hosts }) },
    clients: plan.clients.map((client) => clientOn(client, move)),
  };
}

/** Applies only the settings in which the two systems differ. */
function clientOn(client: ClientPlan, { scenario, from, to }: Move): ClientPlan {
  const written = scenario.clients.find(({ name }) => name === client.name);
  if (written === undefined) return client;
  const before = new Map(Object.entries(settingsOver(written.settings, from.clients)));
  const after = Object.entries(settingsOver(written.settings, to.clients));
  const theirs = after.filter(([name, value]) => value !== before.get(name));
  return { ...client, ...Object.fromEntries(theirs) };
}
