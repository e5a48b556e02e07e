/**
 * One coordinator's view of a sweep: which chunks it added, which came back, which are missing. A
 * round reads what ended, counts it, and adds what is next; whatever a round did may be done again.
 */
import type { Scenario } from '../scenario/scenario.ts';
import { EMPTY_TALLY } from '../sweep/tally.ts';
import { type Checkpoint, renderCheckpoint } from './checkpoint.ts';
import { chunkOfJobId, jobIdOf, rangeOfChunk } from './chunk-map.ts';
import { chunkResultSchema } from './chunk-result.ts';
import { type ShrunkKind, shrunkKindSchema } from './jobs.ts';
import { brokenByKind, kindName, kindsToShrink, shrinkJobIdOf } from './kinds.ts';
import { Ledger } from './ledger.ts';
import type { AddedJob, EndedJob, SweepQueue } from './sweep-queue.ts';
import { type SweepRecord, sweepIdOf } from './sweep-record.ts';
import { type TwoResults, twoResultsText } from './two-results.ts';

export interface CoordinatorOptions {
  readonly sweep: SweepRecord;
  readonly scenario: Scenario;
  readonly queue: SweepQueue;
  /** What an earlier attempt left; null begins anew. */
  readonly checkpoint: Checkpoint | null;
  /** Keeps a checkpoint before it returns. */
  readonly save: (text: string) => void;
  /** Where the plan of a kind of failure will be written. */
  readonly planFileOf: (system: string, claim: string) => string;
  readonly onShrunk: (kind: ShrunkKind) => void;
  readonly note: (line: string) => void;
  /** Chunks that may be on the queue at once. */
  readonly window?: number;
}

/** A checkpoint cannot be kept: without it nothing may be taken off the queue. */
export class Unsaved extends Error {}

const WINDOW = 10_000;
const ADDED_AT_ONCE = 1_000;
const COLLECTED_AT_ONCE = 1_000;
/** So often a chunk that the queue gave up is added anew. */
const MOST_TRIES = 3;

export class Coordinator {
  readonly id: string;
  readonly ledger: Ledger;
  /** Chunks that were given up, and what the queue said of each. */
  readonly lost: Map<number, string> = new Map();
  /** The first chunk that came to two results; null for none. */
  alarm: TwoResults | null;
  private readonly options: CoordinatorOptions;
  /** Every chunk below was added, or is counted. */
  private frontier = 0;
  /** Added and neither counted nor lost. */
  private outstanding = 0;
  /** Jobs whose results are counted, and which go once that is saved. */
  private readonly settled: Set<string> = new Set();
  private readonly settledLate: Set<string> = new Set();
  private readonly tries: Map<number, number> = new Map();
  /** What workers have shrunk, by kind; of some there is no plan. */
  private readonly shrunkKinds: Map<string, ShrunkKind>;
  /** Kinds whose job was added, and the ids of jobs that were given up. */
  private readonly asked: Set<string> = new Set();
  private readonly givenUp: Set<string> = new Set();

  constructor(options: CoordinatorOptions) {
    const { sweep, scenario, checkpoint } = options;
    this.options = options;
    this.id = sweepIdOf(sweep);
    const systems = scenario.systems.map(({ name }) => name);
    this.ledger = new Ledger(sweep, systems, checkpoint?.ledger ?? null);
    const shrunk = checkpoint?.shrunk ?? [];
    this.shrunkKinds = new Map(shrunk.map((kind) => [kindName(kind), kind]));
    this.alarm = checkpoint?.alarm ?? null;
  }

  /** Whether nothing is left to wait for. */
  get isDone(): boolean {
    return this.ledger.done + this.lost.size === this.ledger.chunks;
  }

  /** What workers have shrunk, one a kind of failure; of some there is no plan. */
  get shrunk(): readonly ShrunkKind[] {
    return [...this.shrunkKinds.values()];
  }

  /** How many results are counted and not yet saved. */
  get unsaved(): number {
    return this.settled.size + this.settledLate.size;
  }

  /** Reads what ended since the last time; whether there may be more at once. */
  async collect(): Promise<boolean> {
    const { queue } = this.options;
    const atMost = COLLECTED_AT_ONCE;
    const ended = await queue.ended(this.id, { atMost, known: this.settled });
    for (const job of ended) await this.take(job);
    for (const job of await queue.late(this.id)) this.takeLate(job);
    for (const { id, why } of await queue.failed(this.id)) await this.takeFailed(id, why);
    return ended.length === atMost;
  }

  /** Adds chunks until enough are under way, and a job for each new kind of failure. */
  async add(): Promise<void> {
    const { window = WINDOW, queue } = this.options;
    while (this.frontier < this.ledger.chunks && this.outstanding < window) {
      const chunks: number[] = [];
      let next = this.frontier;
      const most = Math.min(ADDED_AT_ONCE, window - this.outstanding);
      for (; next < this.ledger.chunks && chunks.length < most; next += 1) {
        if (!this.isSettled(next)) chunks.push(next);
      }
      await queue.add(chunks.map((chunk) => this.jobOf(chunk)));
      this.frontier = next;
      this.outstanding += chunks.length;
    }
    await this.addShrinking();
  }

  /** Adds again what is under way; jobs that are still there stay as they are. */
  async addAgain(): Promise<void> {
    this.asked.clear();
    let chunks: number[] = [];
    for (let chunk = 0; chunk < this.frontier; chunk += 1) {
      if (!this.isSettled(chunk)) chunks.push(chunk);
      if (chunks.length < ADDED_AT_ONCE && chunk + 1 < this.frontier) continue;
      await this.options.queue.add(chunks.map((missing) => this.jobOf(missing)));
      chunks = [];
    }
  }

  /** Whether fewer jobs are on the queue than are under way. */
  misses({ jobs }: { readonly jobs: number }): boolean {
    return jobs < this.outstanding;
  }

  /** Saves what is counted, and only then takes it off the queue. */
  async save(milliseconds: number): Promise<void> {
    const { sweep, queue, save } = this.options;
    const { alarm, shrunk } = this;
    const text = renderCheckpoint({
      ...{ sweep, ledger: this.ledger.state() },
      ...{ milliseconds, shrunk, alarm },
    });
    try {
      save(text);
    } catch (error) {
      throw new Unsaved('the checkpoint cannot be kept', { cause: error });
    }
    const [ended, late] = [[...this.settled], [...this.settledLate]];
    await queue.remove(ended);
    for (const id of ended) this.settled.delete(id);
    await queue.removeLate(late);
    for (const id of late) this.settledLate.delete(id);
  }

  /** Examinations so far, those that broke a claim, and by which kind. */
  sums(): { runs: number; broken: number; kinds: Record<string, number> } {
    const tallies = this.options.scenario.systems.map(
      ({ name }) => this.ledger.tallies.get(name) ?? EMPTY_TALLY,
    );
    return {
      runs: tallies.reduce((total, { seeds }) => total + seeds, 0),
      broken: tallies.reduce((total, { broken }) => total + broken, 0),
      kinds: brokenByKind(this.options.scenario, this.ledger.tallies),
    };
  }

  private isSettled(chunk: number): boolean {
    return this.ledger.has(chunk) || this.lost.has(chunk);
  }

  private jobOf(chunk: number): AddedJob {
    const { sweep } = this.options;
    const { fencepost } = sweep.origin;
    const { from, to } = rangeOfChunk(sweep, chunk);
    return {
      id: jobIdOf(this.id, chunk),
      job: { kind: 'chunk', sweep: this.id, fencepost, chunk, from, to },
    };
  }

  private async take({ id, returned }: EndedJob): Promise<void> {
    const chunk = chunkOfJobId(this.id, id);
    if (chunk === null) {
      this.takeShrunk(returned);
      this.settled.add(id);
    } else if (this.count(returned, chunk)) this.settled.add(id);
    else await this.tryAgain(id, chunk, 'its result is none of this chunk');
  }

  private takeLate({ id, returned }: EndedJob): void {
    if (this.settledLate.has(id)) return;
    this.count(returned, null);
    this.settledLate.add(id);
  }

  /** Counts or compares a result; false where it is none of the chunk that it is said to be of. */
  private count(returned: unknown, expected: number | null): boolean {
    const read = chunkResultSchema.safeParse(returned);
    if (!read.success || (expected !== null && read.data.chunk !== expected)) return false;
    const { chunk, from, to } = read.data;
    const offer = this.ledger.offer(read.data);
    if (offer.kind === 'foreign') return false;
    const wasLost = this.lost.delete(chunk);
    if (offer.kind === 'counted' && chunk < this.frontier && !wasLost) this.outstanding -= 1;
    if (offer.kind === 'different' && this.alarm === null) {
      this.alarm = { chunk, from, to, systems: offer.systems };
      this.options.note(`nondeterministic: ${twoResultsText(this.alarm)}`);
    }
    return true;
  }

  private takeShrunk(returned: unknown): void {
    const read = shrunkKindSchema.safeParse(returned);
    if (!read.success || this.shrunkKinds.has(kindName(read.data))) return;
    this.shrunkKinds.set(kindName(read.data), read.data);
    this.options.onShrunk(read.data);
  }

  private async takeFailed(id: string, why: string): Promise<void> {
    const chunk = chunkOfJobId(this.id, id);
    if (chunk === null) {
      this.options.note(`a job that shrinks was given up: ${why}`);
      this.givenUp.add(id);
      await this.options.queue.remove([id]);
    } else if (this.ledger.has(chunk)) this.settled.add(id);
    else await this.tryAgain(id, chunk, why);
  }

  private async tryAgain(id: string, chunk: number, why: string): Promise<void> {
    const { queue, note } = this.options;
    await queue.remove([id]);
    const tries = (this.tries.get(chunk) ?? 1) + 1;
    this.tries.set(chunk, tries);
    if (tries <= MOST_TRIES) {
      note(`chunk ${chunk} is tried again: ${why}`);
      await queue.add([this.jobOf(chunk)]);
    } else if (!this.isSettled(chunk)) {
      this.lost.set(chunk, why);
      if (chunk < this.frontier) this.outstanding -= 1;
    }
  }

  private async addShrinking(): Promise<void> {
    const { scenario, queue, sweep, planFileOf } = this.options;
    const { fencepost } = sweep.origin;
    for (const kind of kindsToShrink(scenario, this.ledger.tallies)) {
      const name = kindName(kind);
      const id = shrinkJobIdOf(this.id, kind);
      if (this.asked.has(name) || this.shrunkKinds.has(name) || this.givenUp.has(id)) continue;
      const planFile = planFileOf(kind.system, kind.claim);
      const job = { kind: 'shrink', sweep: this.id, fencepost, ...kind, planFile } as const;
      await queue.add([{ id, job }]);
      this.asked.add(name);
    }
  }
}
