/**
 * Sees a sweep on a queue through: goes round until every chunk is counted, and waits for a queue
 * that is away. Whatever else is wrong ends it at once.
 */
import type { Tally } from '../../search/sweep/tally.ts';
import { Unsaved } from './coordinator.ts';
import type { ShrunkKind } from './jobs.ts';
import { QueueAway, tellingAway } from './queue-away.ts';
import { Reach } from './reach.ts';
import { type CoordinateOptions, type FleetEnd, Rounds } from './rounds.ts';
import type { TwoResults } from './two-results.ts';

export interface FleetResult {
  readonly end: FleetEnd;
  /** By system, in the scenario's order. */
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly lost: ReadonlyMap<number, string>;
  /** The first chunk that came to two results; null for none. */
  readonly alarm: TwoResults | null;
  /** What workers have shrunk, one a kind of failure; of some there is no plan. */
  readonly shrunk: readonly ShrunkKind[];
  /** All attempts together. */
  readonly milliseconds: number;
}

/**
 * Coordinates; rejects with what is wrong in fencepost, in keeping a checkpoint, or in what is
 * called here. What was counted by then is saved, if that can be.
 */
export async function coordinate(options: CoordinateOptions): Promise<FleetResult> {
  const rounds = new Rounds({ ...options, queue: tellingAway(options.queue) });
  const end = await endOf(rounds, options);
  const { coordinator, milliseconds } = rounds;
  const { lost, alarm, shrunk, ledger } = coordinator;
  return { end, tallies: ledger.tallies, lost, alarm, shrunk, milliseconds };
}

async function endOf(rounds: Rounds, options: CoordinateOptions): Promise<FleetEnd> {
  const reach = new Reach(options.note);
  try {
    for (;;) {
      const end = await nextOrAway(rounds, reach);
      if (end !== 'away' && end !== null) return end;
      if (end === null || !options.shouldStop()) continue;
      rounds.keep();
      return 'left';
    }
  } catch (error) {
    if (error instanceof Unsaved) throw error.cause;
    keepIfPossible(rounds);
    throw error;
  }
}

/** A round; `away` where the queue did not answer, after which it was waited. */
async function nextOrAway(rounds: Rounds, reach: Reach): Promise<FleetEnd | 'away' | null> {
  try {
    const end = await rounds.next();
    reach.answers();
    return end;
  } catch (error) {
    if (!(error instanceof QueueAway)) throw error;
    reach.away(error);
    await rounds.pause();
    return 'away';
  }
}

/** What is wrong already matters more than a checkpoint that cannot be kept either. */
function keepIfPossible(rounds: Rounds): void {
  try {
    rounds.keep();
  } catch (error) {
    if (!(error instanceof Unsaved)) throw error;
  }
}
