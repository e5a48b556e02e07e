/** A coordinator and workers as processes, for the laws of sweeps on a queue. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Tally, tallySchema } from '../../../search/sweep/tally.ts';
import type { RedisServer } from './redis.fixture.ts';

/** Short enough that a worker that was killed is missed within a second or two. */
const TIMING = {
  lockMs: 1_000,
  stalledMs: 300,
  mostStalls: 100,
  lookMs: 100,
  againMs: 500,
  refusedMs: 500,
  placeMs: 300,
  idleMs: 50,
  retryMs: 300,
};

const lineSchema = z.object({
  note: z.string().optional(),
  begun: z.number().optional(),
  chunk: z.number().optional(),
  sweep: z.string().optional(),
  done: z.number().optional(),
  shrunk: z.string().optional(),
  end: z.string().optional(),
  alarm: z.string().nullable().optional(),
  late: z.number().optional(),
  lost: z.array(z.number()).optional(),
  tallies: z.record(z.string(), tallySchema).optional(),
});

export interface Ended {
  readonly end: string;
  readonly alarm: string | null;
  /** Results that came after their job was given to another worker. */
  readonly late: number;
  readonly lost: readonly number[];
  readonly tallies: Readonly<Record<string, Tally>>;
}

export interface FleetOptions {
  readonly file: string;
  readonly range: { readonly from: number; readonly to: number };
  readonly chunkSeeds: number;
  /** Chunks that may be on the queue at once. */
  readonly window?: number;
}

export class Fleet {
  /** What everybody said that is no number. */
  readonly notes: string[] = [];
  /** Those of workers. */
  readonly workerNotes: string[] = [];
  readonly shrunk: string[] = [];
  /** How often a worker began a chunk, and how often one finished it that was still its own. */
  begun = 0;
  examined = 0;
  /** The sweep of each chunk that was finished, in that order. */
  readonly order: string[] = [];
  /** Chunks that the coordinator has counted. */
  done = 0;
  private readonly begunBy: Map<ChildProcess, number> = new Map();
  private readonly server: RedisServer;
  private readonly options: FleetOptions;
  private readonly folder: string = mkdtempSync(join(tmpdir(), 'fencepost-fleet-'));
  private readonly processes: Set<ChildProcess> = new Set();
  private coordinator: ChildProcess | null = null;
  private isOver = false;
  private result: Promise<Ended | null> = Promise.resolve(null);

  constructor(server: RedisServer, options: FleetOptions) {
    this.server = server;
    this.options = options;
  }

  /** Starts a worker, and gives it once it is ready. */
  async work(version: string = '1.0.0'): Promise<ChildProcess> {
    const order = { url: this.server.url, version, timing: TIMING };
    return await new Promise((resolve) => {
      const child = this.start('worker.fixture.mjs', order, ({ note, begun, chunk, sweep }) => {
        if (begun !== undefined) {
          this.begun += 1;
          this.begunBy.set(child, (this.begunBy.get(child) ?? 0) + 1);
        }
        if (chunk !== undefined) this.examined += 1;
        if (chunk !== undefined && sweep !== undefined) this.order.push(sweep);
        if (note === 'ready') resolve(child);
        else if (note !== undefined) {
          this.notes.push(note);
          this.workerNotes.push(note);
        }
      });
    });
  }

  /** Starts a coordinator; after one was killed, it goes on. */
  coordinate(): void {
    const checkpointFile = join(this.folder, 'checkpoint');
    const order = { ...this.options, url: this.server.url, version: '1.0.0', checkpointFile };
    this.result = new Promise((resolve) => {
      let ended: Ended | null = null;
      const child = this.start('coordinator.fixture.mjs', order, (line) => {
        const { note, done, shrunk, end, alarm = null, late = 0, lost = [], tallies } = line;
        if (note !== undefined) this.notes.push(note);
        if (shrunk !== undefined) this.shrunk.push(shrunk);
        if (done !== undefined) this.done = done;
        if (end !== undefined && tallies !== undefined) ended = { end, alarm, late, lost, tallies };
      });
      this.isOver = false;
      child.once('close', () => {
        this.isOver = true;
        resolve(ended);
      });
      this.coordinator = child;
    });
  }

  /** Stops the coordinator's process for a while, or lets it go on. */
  signalCoordinator(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.coordinator?.kill(signal);
  }

  async killCoordinator(): Promise<void> {
    this.coordinator?.kill('SIGKILL');
    await this.result;
  }

  /** How the coordinator ended. */
  async ended(): Promise<Ended> {
    const ended = await this.result;
    if (ended === null) throw new Error(`it ended without a result: ${this.notes.join('\n')}`);
    return ended;
  }

  /** Waits until so many chunks are counted. */
  async counted(chunks: number): Promise<void> {
    await this.until(`${chunks} chunks are counted`, () => this.done >= chunks);
  }

  /** Waits until a worker begins its next chunk. */
  async begins(worker: ChildProcess): Promise<void> {
    const before = this.begunBy.get(worker) ?? 0;
    await this.until('it begins', () => (this.begunBy.get(worker) ?? 0) > before);
  }

  /** Waits; throws where the coordinator ends before. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.isOver) throw new Error(`it ended before ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async end(): Promise<void> {
    const ends = [...this.processes].map(
      (child) => new Promise((resolve) => child.once('close', resolve)),
    );
    for (const child of this.processes) child.kill('SIGKILL');
    await Promise.all(ends);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private start(
    script: string,
    order: object,
    onLine: (line: z.infer<typeof lineSchema>) => void,
  ): ChildProcess {
    const path = fileURLToPath(new URL(script, import.meta.url));
    const child = spawn(process.execPath, [path, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.processes.add(child);
    child.once('close', () => this.processes.delete(child));
    createInterface({ input: child.stdout }).on('line', (line) => {
      onLine(lineSchema.parse(JSON.parse(line)));
    });
    return child;
  }
}
