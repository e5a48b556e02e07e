/**
 * One coordinator's view of a sweep: which chunks it added, which came back, which are missing. A
 * round reads what ended, counts it, and adds what is next; whatever a round did may be done again.
 *
 * Start here to read the fleet. What a sweep is: `sweep-record.ts`, cut by `chunks.ts` into the
 * jobs of `sweep-queue.ts`. What comes back is added up in `chunk-counts.ts` and kept in
 * `checkpoint.ts`; `two-results.ts` raises the alarm, and `shrinking.ts` asks workers to shrink
 * what broke. `coordinate.ts` goes round until all is counted, on a queue, which `bull-queue.ts` is
 * on Redis (`queue-url.ts`, `connection.ts`), and `progress.ts` says how far it is. On the other
 * side `worker.ts` does the jobs that `take-jobs.ts` takes; `shrink-kind.ts` shrinks in a thread.
 */
import type { Catalogue } from '../../catalogue.ts';
import { EMPTY_TALLY } from '../../search/sweep/tally.ts';
import { type Checkpoint, renderCheckpoint } from './checkpoint.ts';
import { boundsOf, ChunkCounts, isPlausible, type ResultBounds } from './chunk-counts.ts';
import { chunkOfJobId, jobIdOf, rangeOfChunk } from './chunks.ts';
import { brokenByKind, Shrinking, type ShrinkingOptions } from './shrinking.ts';
import { type AddedJob, chunkResultSchema, type EndedJob, type ShrunkKind } from './sweep-queue.ts';
import { sweepIdOf } from './sweep-record.ts';
import { type TwoResults, twoResultsText } from './two-results.ts';

export interface CoordinatorOptions extends ShrinkingOptions {
  /** What the scenario's words mean; built-in ones by default. */
  readonly catalogue?: Catalogue;
  /** What an earlier attempt left; null begins anew. */
  readonly checkpoint: Checkpoint | null;
  /** Keeps a checkpoint before it returns. */
  readonly save: (text: string) => void;
  /** Chunks that may be on the queue at once. */
  readonly window?: number;
}

/** A checkpoint cannot be kept: without it nothing may be taken off the queue. */
export class Unsaved extends Error {}

const WINDOW = 10_000;
const ADDED_AT_ONCE = 1_000;
const COLLECTED_AT_ONCE = 1_000;
const LATE_AT_ONCE = 100;
/** So often a chunk that the queue gave up is added anew. */
const MOST_TRIES = 3;

export class Coordinator {
  readonly id: string;
  readonly counts: ChunkCounts;
  /** Chunks that were given up, and what the queue said of each. */
  readonly lost: Map<number, string> = new Map();
  /** The first chunk that came to two results; null for none. */
  alarm: TwoResults | null;
  private readonly options: CoordinatorOptions;
  private readonly bounds: ResultBounds;
  /** Every chunk below was added, or is counted. */
  private frontier = 0;
  /** Added and neither counted nor lost. */
  private outstanding = 0;
  /** Jobs whose results are counted, and which go once that is saved. */
  private readonly settled: Set<string> = new Set();
  private readonly settledLate: Set<string> = new Set();
  private readonly tries: Map<number, number> = new Map();
  private readonly shrinking: Shrinking;

  constructor(options: CoordinatorOptions) {
    const { sweep, scenario, checkpoint, catalogue } = options;
    this.options = options;
    this.id = sweepIdOf(sweep);
    this.bounds = boundsOf(scenario, sweep.range, catalogue);
    const systems = scenario.systems.map(({ name }) => name);
    this.counts = new ChunkCounts(sweep, systems, checkpoint?.counts ?? null);
    this.shrinking = new Shrinking(options, checkpoint?.shrunk ?? []);
    this.alarm = checkpoint?.alarm ?? null;
  }

  /** Whether nothing is left to wait for. */
  get isDone(): boolean {
    return this.counts.done + this.lost.size === this.counts.chunks;
  }

  /** What workers have shrunk, one a kind of failure; of some there is no plan. */
  get shrunk(): readonly ShrunkKind[] {
    return this.shrinking.shrunk;
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
    const late = { atMost: LATE_AT_ONCE, known: this.settledLate };
    for (const job of await queue.late(this.id, late)) this.takeLate(job);
    for (const { id, why } of await queue.failed(this.id)) await this.takeFailed(id, why);
    return ended.length === atMost;
  }

  /** Adds chunks until enough are under way, and a job for each new kind of failure. */
  async add(): Promise<void> {
    const { window = WINDOW, queue } = this.options;
    while (this.frontier < this.counts.chunks && this.outstanding < window) {
      const chunks: number[] = [];
      let next = this.frontier;
      const most = Math.min(ADDED_AT_ONCE, window - this.outstanding);
      for (; next < this.counts.chunks && chunks.length < most; next += 1) {
        if (!this.isSettled(next)) chunks.push(next);
      }
      await queue.add(chunks.map((chunk) => this.jobOf(chunk)));
      this.frontier = next;
      this.outstanding += chunks.length;
    }
    await this.shrinking.add(this.counts.tallies);
  }

  /** Adds again what is under way; jobs that are still there stay as they are. */
  async addAgain(): Promise<void> {
    this.shrinking.askAgain();
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
    const { queue } = this.options;
    this.keep(milliseconds);
    const [ended, late] = [[...this.settled], [...this.settledLate]];
    await queue.remove(this.id, ended);
    for (const id of ended) this.settled.delete(id);
    await queue.removeLate(this.id, late);
    for (const id of late) this.settledLate.delete(id);
  }

  /** Saves what is counted; the queue, which may be away, stays as it is. */
  keep(milliseconds: number): void {
    const { sweep, save } = this.options;
    const { alarm, shrunk } = this;
    const counts = this.counts.state();
    const text = renderCheckpoint({ sweep, counts, milliseconds, shrunk, alarm });
    try {
      save(text);
    } catch (error) {
      throw new Unsaved('the checkpoint cannot be kept', { cause: error });
    }
  }

  /** Examinations so far, those that broke a claim, and by which kind. */
  sums(): { runs: number; broken: number; kinds: Record<string, number> } {
    const tallies = this.options.scenario.systems.map(
      ({ name }) => this.counts.tallies.get(name) ?? EMPTY_TALLY,
    );
    return {
      runs: tallies.reduce((total, { seeds }) => total + seeds, 0),
      broken: tallies.reduce((total, { broken }) => total + broken, 0),
      kinds: brokenByKind(this.options.scenario, this.counts.tallies),
    };
  }

  private isSettled(chunk: number): boolean {
    return this.counts.has(chunk) || this.lost.has(chunk);
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
    const chunk = this.chunkOf(id);
    if (chunk === null) {
      this.shrinking.take(id, returned);
      this.settled.add(id);
    } else if (this.count(returned, chunk)) this.settled.add(id);
    else await this.takeFailed(id, 'its result is none of this chunk');
  }

  private chunkOf(jobId: string): number | null {
    return chunkOfJobId({ sweep: this.id, chunks: this.counts.chunks }, jobId);
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
    if (!isPlausible(read.data, this.bounds)) return false;
    const { chunk, from, to } = read.data;
    const offer = this.counts.offer(read.data);
    if (offer.kind === 'foreign') return false;
    const wasLost = this.lost.delete(chunk);
    if (offer.kind === 'counted' && chunk < this.frontier && !wasLost) this.outstanding -= 1;
    if (offer.kind === 'different' && this.alarm === null) {
      this.alarm = { chunk, from, to, systems: offer.systems };
      this.options.note(`nondeterministic: ${twoResultsText(this.alarm)}`);
    }
    return true;
  }

  private async takeFailed(id: string, why: string): Promise<void> {
    const chunk = this.chunkOf(id);
    if (chunk === null) {
      this.shrinking.giveUp(id, why);
      await this.options.queue.remove(this.id, [id]);
    } else if (this.counts.has(chunk)) this.settled.add(id);
    else await this.tryAgain(id, chunk, why);
  }

  private async tryAgain(id: string, chunk: number, why: string): Promise<void> {
    const { queue, note } = this.options;
    await queue.remove(this.id, [id]);
    const tries = (this.tries.get(chunk) ?? 1) + 1;
    this.tries.set(chunk, tries);
    if (tries <= MOST_TRIES) {
      note(`chunk ${chunk + 1} is tried again: ${why}`);
      await queue.add([this.jobOf(chunk)]);
    } else if (!this.isSettled(chunk)) {
      this.lost.set(chunk, why);
      if (chunk < this.frontier) this.outstanding -= 1;
    }
  }
}
