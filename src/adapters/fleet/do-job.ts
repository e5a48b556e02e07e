/**
 * Does a job that was taken: it checks that it is one of the sweep, examines the chunk or shrinks
 * the seed on threads of its own, and gives what came of it to whom it belongs.
 */
import { UnrecoverableError } from 'bullmq';
import { Defect } from '../../core/kernel/assert.ts';
import type { Pool } from '../../search/sweep/pool.ts';
import { sweep } from '../../search/sweep/sweep.ts';
import { chunksIn, jobIdOf, rangeOfChunk } from './chunk-map.ts';
import type { ChunkResult } from './chunk-result.ts';
import { type ChunkJob, type FleetJob, fleetJobSchema, type ShrinkJob } from './jobs.ts';
import type { Loaded } from './known-sweeps.ts';
import type { LateResults } from './late-results.ts';
import type { Teller } from './reach.ts';
import { shrinkApart } from './shrink-apart.ts';
import type { TakenJob } from './take-jobs.ts';

/** A chunk, and which sweep it is of. */
export interface ChunkPlace {
  readonly sweep: string;
  readonly scenario: string;
  /** From 1 to `chunks`. */
  readonly number: number;
  readonly chunks: number;
}

export interface JobDoerParts {
  readonly pool: Pool;
  readonly late: LateResults;
  readonly teller: Teller;
  /** Reads the record of a sweep again. */
  readonly readAgain: (sweepId: string) => Promise<Loaded | null>;
  readonly onBegun: (job: ChunkJob, place: ChunkPlace) => void;
  readonly onChunk: (result: ChunkResult, place: ChunkPlace) => void;
}

export class JobDoer {
  private readonly parts: JobDoerParts;

  constructor(parts: JobDoerParts) {
    this.parts = parts;
  }

  /** Does a job to its end, good or bad; rejects where the queue takes neither. */
  async do(taken: TakenJob): Promise<void> {
    const { held } = taken;
    try {
      if (held.whyGivenUp !== null) throw new UnrecoverableError(held.whyGivenUp);
      const job = await this.checked(taken);
      if (job.kind === 'chunk') await this.examine(job, taken);
      else await this.shrink(job, taken);
    } catch (error) {
      if (error instanceof Defect || !(error instanceof Error)) throw error;
      await held.fail(error);
    } finally {
      held.release();
    }
  }

  private async examine(job: ChunkJob, { sweepId, loaded, held }: TakenJob): Promise<void> {
    const { pool, onBegun, onChunk } = this.parts;
    const { scenario, catalogue } = loaded;
    const { chunk, from, to } = job;
    const chunks = chunksIn(loaded.sweep);
    const place = { sweep: sweepId, scenario: scenario.name, number: chunk + 1, chunks };
    onBegun(job, place);
    const { tallies, milliseconds } = await sweep(scenario, { from, to, catalogue, pool });
    const result: ChunkResult = {
      ...{ chunk, from, to },
      tallies: Object.fromEntries(tallies),
      milliseconds: Math.round(milliseconds),
    };
    if (await held.complete(result)) onChunk(result, place);
    else await this.keepApart(sweepId, result);
  }

  private async shrink(job: ShrinkJob, { loaded, held }: TakenJob): Promise<void> {
    const { scenario, catalogue, sweep: record } = loaded;
    const { modules } = catalogue;
    await held.complete(await shrinkApart({ job, scenario, file: record.file, modules }));
  }

  /** A result whose job was given to another is still one of its chunk, to be compared. */
  private async keepApart(sweepId: string, result: ChunkResult): Promise<void> {
    if (!(await this.parts.late.add(sweepId, result))) return;
    const { from, to } = result;
    const whose = 'were given to another worker: ours are only compared';
    this.parts.teller.tell(`seeds ${from}..${to} ${whose}`);
  }

  /** What the job asks for; throws where it is none of its sweep. */
  private async checked({ sweepId, loaded, held }: TakenJob): Promise<FleetJob> {
    const read = fleetJobSchema.safeParse(held.data);
    if (!read.success) throw new UnrecoverableError('this is no job that fencepost wrote');
    const job = read.data;
    if (job.sweep !== sweepId) throw new UnrecoverableError('it is a job of another sweep');
    if (job.fencepost !== loaded.sweep.origin.fencepost) {
      throw new UnrecoverableError('it is a job of another version of fencepost');
    }
    if (isOf(loaded, job, held.id)) return job;
    // The sweep may have been begun anew meanwhile, with other chunks.
    const now = await this.parts.readAgain(sweepId);
    if (now === null || !isOf(now, job, held.id)) {
      throw new UnrecoverableError('it is for other seeds than its sweep has');
    }
    return job;
  }
}

/** Whether a job asks for nothing but what its sweep has. */
function isOf({ sweep: record, scenario }: Loaded, job: FleetJob, jobId: string): boolean {
  if (job.kind === 'shrink') {
    const { from, to } = record.range;
    const isThere = scenario.systems.some(({ name }) => name === job.system);
    return isThere && job.seed >= from && job.seed <= to;
  }
  const { from, to } = rangeOfChunk(record, job.chunk);
  const isIn = job.chunk < chunksIn(record) && jobId === jobIdOf(job.sweep, job.chunk);
  return isIn && job.from === from && job.to === to;
}
