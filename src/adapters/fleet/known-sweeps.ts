/**
 * Which sweeps on the queue this worker can do: it looks at their records, loads each once, and
 * says why it leaves one to others, once to its user and once to the sweep's coordinator.
 */
import type { AnyJob, OpenedQueue } from './connection.ts';
import { sweepEntrySchema } from './jobs.ts';
import { type LoadedSweep, type LoadOptions, loadSweep } from './loaded-sweeps.ts';
import type { Teller } from './reach.ts';
import { leaveRefusal, refusalText } from './refusal.ts';
import { isUnreadable } from './unreadable.ts';
import type { WorkerTiming } from './worker-timing.ts';

export type Loaded = Extract<LoadedSweep, { kind: 'loaded' }>;

/** What is known of a record; `loaded` is null where no jobs of it are to be taken. */
interface Known {
  readonly loaded: Loaded | null;
  /** What was said of why it is left to others; null where it is not. */
  readonly refusal: string | null;
  /** When it is read again. */
  readonly againAtMs: number;
}

export interface KnownSweepsParts {
  readonly records: OpenedQueue;
  readonly options: LoadOptions;
  readonly timing: WorkerTiming;
  readonly teller: Teller;
}

const MOST_RECORDS = 1_000;
/** A look reads no more than so many records. */
const MOST_READ = 50;

export class KnownSweeps {
  private readonly parts: KnownSweepsParts;
  private readonly known: Map<string, Known> = new Map();

  constructor(parts: KnownSweepsParts) {
    this.parts = parts;
  }

  /** Reads records that are new, or were not read for long. */
  async look(): Promise<void> {
    const ids = await this.parts.records.getRanges(['waiting'], 0, MOST_RECORDS - 1, true);
    const there = new Set(ids);
    for (const id of this.known.keys()) if (!there.has(id)) this.known.delete(id);
    const now = nowMs();
    const due = ids.filter((id) => (this.known.get(id)?.againAtMs ?? 0) <= now);
    for (const id of due.slice(0, MOST_READ)) await this.read(id);
  }

  /** The sweeps that run and can be done here. */
  ids(): readonly string[] {
    return [...this.known].flatMap(([id, { loaded }]) => (loaded === null ? [] : [id]));
  }

  /** Lets all others that can be done come before it. */
  putLast(id: string): void {
    const known = this.known.get(id);
    if (known === undefined) return;
    this.known.delete(id);
    this.known.set(id, known);
  }

  /** Whether it had no record when these were looked at last. */
  isGone(id: string): boolean {
    return !this.known.has(id);
  }

  get(id: string): Loaded | null {
    return this.known.get(id)?.loaded ?? null;
  }

  /** Reads a record now; null where its jobs are not to be done here. */
  async read(id: string): Promise<Loaded | null> {
    const { timing } = this.parts;
    const entry = sweepEntrySchema.safeParse((await this.job(id))?.data);
    if (!entry.success || entry.data.state !== 'running') {
      return this.keep(id, null, timing.againMs);
    }
    const { sweep } = entry.data;
    const before = this.get(id);
    // What a sweep is follows from its id; only how it is cut may have changed.
    if (before !== null) return this.keep(id, { ...before, sweep }, timing.againMs);
    const loaded = await this.load(id, sweep);
    if (loaded.kind === 'loaded') return this.keep(id, loaded, timing.againMs);
    const refusal = refusalText(id, loaded.why);
    this.parts.teller.tell(refusal);
    if (this.known.get(id)?.refusal !== refusal) {
      await leaveRefusal(this.parts.records, id, refusal);
    }
    this.known.set(id, { loaded: null, refusal, againAtMs: nowMs() + timing.refusedMs });
    return null;
  }

  private keep(id: string, loaded: Loaded | null, forMs: number): Loaded | null {
    this.known.set(id, { loaded, refusal: null, againAtMs: nowMs() + forMs });
    return loaded;
  }

  private async load(id: string, sweep: Loaded['sweep']): Promise<LoadedSweep> {
    try {
      return await loadSweep(id, sweep, this.parts.options);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { kind: 'refused', why: `cannot be loaded here: ${error.message}` };
    }
  }

  private async job(id: string): Promise<AnyJob | undefined> {
    try {
      return await this.parts.records.getJob(id);
    } catch (error) {
      if (isUnreadable(error)) return undefined;
      throw error;
    }
  }
}

function nowMs(): number {
  return performance.now();
}
