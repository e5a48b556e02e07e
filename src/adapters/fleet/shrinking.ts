/**
 * What workers shrink of a sweep: one seed of each kind of failure, asked for as soon as it is
 * known. An answer counts only under the id of its own job, and of a kind that the scenario lists.
 */
import type { Scenario } from '../../scenario/scenario.ts';
import type { Tally } from '../../search/sweep/tally.ts';
import { type ShrunkKind, shrunkKindSchema } from './jobs.ts';
import { type Kind, kindName, kindsToShrink, shrinkJobIdOf, shrinkJobsOf } from './kinds.ts';
import { Teller } from './reach.ts';
import type { SweepQueue } from './sweep-queue.ts';
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
  private readonly teller: Teller;
  /** What each job is about, by its id. */
  private readonly jobs: ReadonlyMap<string, Pick<Kind, 'system' | 'claim'>>;
  private readonly kinds: Map<string, ShrunkKind>;
  /** The ids of jobs that were added, and of those that will not be again. */
  private readonly asked: Set<string> = new Set();
  private readonly givenUp: Set<string> = new Set();

  /** Goes on from what is `known`. */
  constructor(options: ShrinkingOptions, known: readonly ShrunkKind[]) {
    this.options = options;
    this.id = sweepIdOf(options.sweep);
    this.teller = new Teller(options.note);
    this.jobs = shrinkJobsOf(this.id, options.scenario);
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
      this.teller.tell('a result is ignored that is of no job of this sweep');
      return;
    }
    const name = kindName(asked);
    if (this.kinds.has(name)) return;
    const read = shrunkKindSchema.safeParse(returned);
    if (!read.success || !this.isOf(read.data, asked)) {
      this.teller.tell(`what was shrunk of ${name} is ignored: it is no answer to its job`);
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

  private isOf({ system, claim, seed }: Kind, asked: Pick<Kind, 'system' | 'claim'>): boolean {
    const { from, to } = this.options.sweep.range;
    const isAsked = system === asked.system && claim === asked.claim;
    return isAsked && seed >= from && seed <= to;
  }
}
