/**
 * What workers shrink of a sweep: one seed of each kind of failure, a claim of a system that a run
 * on one machine would shrink too, asked for as soon as it is known, so that nobody waits for the
 * end to see it. An answer counts only under the id of its own job, and of a kind that the scenario
 * lists.
 */
import { createHash } from 'node:crypto';
import type { Scenario } from '../../scenario/scenario.ts';
import { claimsToShrink } from '../../search/sweep/expectation.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../../search/sweep/tally.ts';
import { OnceNoter } from './progress.ts';
import {
  type FailureKind,
  type ShrunkKind,
  type SweepQueue,
  shrunkKindSchema,
} from './sweep-queue.ts';
import { type SweepRecord, sweepIdOf } from './sweep-record.ts';

export interface ShrinkingOptions {
  readonly sweep: SweepRecord;
  readonly scenario: Scenario;
  readonly queue: SweepQueue;
  /** Where the plan of a kind of failure will be written. */
  readonly planFileOf: (system: string, claim: string) => string;
  readonly onShrunk: (kind: ShrunkKind) => void;
  readonly note: (line: string) => void;
}

export class Shrinking {
  private readonly options: ShrinkingOptions;
  private readonly id: string;
  /** Says once what is ignored. */
  private readonly noter: OnceNoter;
  /** The jobs that may have to shrink what broke, by their ids: what each is about. */
  private readonly jobs: ReadonlyMap<string, NamedKind>;
  private readonly kinds: Map<string, ShrunkKind>;
  /** The ids of jobs that were added, and of those that will not be again. */
  private readonly asked: Set<string> = new Set();
  private readonly givenUp: Set<string> = new Set();

  /** Goes on from what is `known`. */
  constructor(options: ShrinkingOptions, known: readonly ShrunkKind[]) {
    this.options = options;
    this.id = sweepIdOf(options.sweep);
    this.noter = new OnceNoter(options.note);
    const kinds = kindsIn(options.scenario.systems);
    this.jobs = new Map(kinds.map((kind) => [shrinkJobIdOf(this.id, kind), kind]));
    this.kinds = new Map(known.map((kind) => [kindName(kind), kind]));
  }

  /** One a kind of failure; of some there is no plan. */
  get shrunk(): readonly ShrunkKind[] {
    return [...this.kinds.values()];
  }

  /** Adds a job for each new kind of failure. */
  async add(tallies: ReadonlyMap<string, Tally>): Promise<void> {
    const { scenario, queue, sweep, planFileOf } = this.options;
    const { fencepost } = sweep.origin;
    for (const kind of kindsToShrink(scenario, tallies)) {
      const id = shrinkJobIdOf(this.id, kind);
      const isKnown = this.kinds.has(kindName(kind));
      if (isKnown || this.asked.has(id) || this.givenUp.has(id)) continue;
      const planFile = planFileOf(kind.system, kind.claim);
      const job = { kind: 'shrink', sweep: this.id, fencepost, ...kind, planFile } as const;
      await queue.add([{ id, job }]);
      this.asked.add(id);
    }
  }

  /** Lets what is under way be added again. */
  askAgain(): void {
    this.asked.clear();
  }

  /** Takes what a job returned; what is no answer to it is ignored. */
  take(id: string, returned: unknown): void {
    const asked = this.jobs.get(id);
    if (asked === undefined) {
      this.noter.tell('a result is ignored that is of no job of this sweep');
      return;
    }
    const name = kindName(asked);
    if (this.kinds.has(name)) return;
    const read = shrunkKindSchema.safeParse(returned);
    if (!read.success || !this.isOf(read.data, asked)) {
      this.noter.tell(`what was shrunk of ${name} is ignored: it is no answer to its job`);
      this.givenUp.add(id);
      return;
    }
    // Told first: where that fails it is still on the queue, and not in the checkpoint.
    this.options.onShrunk(read.data);
    this.kinds.set(name, read.data);
  }

  /** A job was tried too often; it may also be none of this sweep. */
  giveUp(id: string, why: string): void {
    if (!this.jobs.has(id)) return;
    this.options.note(`a job that shrinks was given up: ${why}`);
    this.givenUp.add(id);
  }

  private isOf({ system, claim, seed }: FailureKind, asked: NamedKind): boolean {
    const { from, to } = this.options.sweep.range;
    return system === asked.system && claim === asked.claim && seed >= from && seed <= to;
  }
}

type NamedKind = Pick<FailureKind, 'system' | 'claim'>;

type Tallies = ReadonlyMap<string, Tally>;

/** What a run on one machine would shrink, each by its lowest seed. */
function kindsToShrink({ systems }: Scenario, tallies: Tallies): readonly FailureKind[] {
  return systems.flatMap((system) => {
    const tally = tallies.get(system.name) ?? EMPTY_TALLY;
    return claimsToShrink(system, tally).flatMap((claim): FailureKind[] => {
      const [seed] = claimTally(tally, claim).brokenSeeds;
      return seed === undefined ? [] : [{ system: system.name, claim, seed }];
    });
  });
}

/** How many seeds broke each claim that the scenario lists, by `system claim`. */
export function brokenByKind({ systems }: Scenario, tallies: Tallies): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const kind of kindsIn(systems)) {
    const { broken } = claimTally(tallies.get(kind.system) ?? EMPTY_TALLY, kind.claim);
    if (broken > 0) kinds[kindName(kind)] = broken;
  }
  return kinds;
}

/** `unfenced grant-order`. */
function kindName({ system, claim }: NamedKind): string {
  return `${system} ${claim}`;
}

function kindsIn(systems: Scenario['systems']): readonly NamedKind[] {
  return systems.flatMap(({ name: system, expect }) =>
    [...expect.holds, ...expect.breaks].map((claim) => ({ system, claim })),
  );
}

/** The id of the job that shrinks a kind: there is one a sweep. */
export function shrinkJobIdOf(sweep: string, kind: NamedKind): string {
  const digest = createHash('sha256').update(JSON.stringify([kind.system, kind.claim]));
  return `${sweep}-k${digest.digest('hex').slice(0, 12)}`;
}
