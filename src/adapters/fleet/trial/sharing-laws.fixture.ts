/**
 * Laws of several sweeps on one queue: they share the workers, nothing that is wrong with one holds
 * up another, and of one that has ended nothing stays.
 */
import { expect } from 'vitest';
import { jobIdOf } from '../chunks.ts';
import { lateQueueOf, workQueueOf } from '../connection.ts';
import type { AddedJob } from '../sweep-queue.ts';
import { sweepIdOf } from '../sweep-record.ts';
import { HeldJob, MOST_OPEN } from '../take-jobs.ts';
import { CHUNKS, type Place, type Queues } from './place.fixture.ts';

export function lawsOfSharing(test: Queues['test'], place: Place): void {
  lawsOfTurns(test, place);
  lawsOfWhatIsWrong(test, place);
  lawsOfWhatStays(test, place);
}

function lawsOfTurns(test: Queues['test'], place: Place): void {
  test('a small sweep does not wait for the end of a big one that began before it', async () => {
    const [big, server] = await place.begin();
    const range = { from: 1001, to: 1060 };
    const small = place.fleet(server, range);
    const queue = await place.queue();
    big.coordinate();
    await waitFor(async () => (await queue.total()).waiting === CHUNKS);
    small.coordinate();
    await waitFor(async () => (await queue.total()).waiting === CHUNKS + 5);
    await queue.close();
    await big.work();
    const ended = await small.ended();
    expect([ended.end, ended.tallies]).toEqual(['whole', await place.alone(range)]);
    place.requireSame('two sweeps at once', 'once', await big.ended());
    const last = big.order.lastIndexOf(sweepIdOf(place.recordOf(range)));
    expect(big.order).toHaveLength(CHUNKS + 5);
    // Each of them in turn, and chunks of which one was shrunk meanwhile.
    expect(last).toBeLessThan(2 * 5 + 5);
  });

  test('sweeps that nobody ends hold up no other: many without chunks, one of another version', async () => {
    const [ours] = await place.begin();
    const queue = await place.queue();
    const orphan = place.recordOf({ from: 1, to: 24_000 }, '9.9.9');
    const id = sweepIdOf(orphan);
    await queue.announce(id, orphan);
    const chunks = Array.from({ length: 2_000 }, (_, chunk) => chunk);
    await queue.add(
      chunks.map((chunk): AddedJob => {
        const [from, to] = [1 + 12 * chunk, 12 + 12 * chunk];
        const job = { kind: 'chunk', sweep: id, fencepost: '9.9.9', chunk, from, to } as const;
        return { id: jobIdOf(id, chunk), job };
      }),
    );
    for (let nth = 0; nth < MOST_OPEN + 5; nth += 1) {
      const idle = place.recordOf({ from: 2_000 + nth, to: 3_000 });
      await queue.announce(sweepIdOf(idle), idle);
    }
    await ours.work();
    ours.coordinate();
    const mine = sweepIdOf(place.recordOf());
    await waitFor(async () => (await queue.counts(mine)).workers === 1);
    place.requireSame('a sweep of another version', 'once', await ours.ended());
    expect(await queue.counts(id)).toMatchObject({ waiting: 2_000, active: 0, workers: 0 });
    expect((await queue.total()).workers).toBe(1);
    expect(await queue.refusals(id)).toEqual([
      `sweep ${id} is of fencepost 9.9.9, not 1.0.0: left for other workers`,
    ]);
    await queue.clear(id);
    expect((await queue.counts(id)).waiting).toBe(0);
    await queue.close();
  });
}

function lawsOfWhatIsWrong(test: Queues['test'], place: Place): void {
  test('jobs and late results that fencepost did not write stop nobody', async () => {
    const [ours] = await place.begin();
    const id = sweepIdOf(place.recordOf());
    const connection = await place.connect();
    const work = connection.queue(workQueueOf(id));
    const chunk = { kind: 'chunk', sweep: id, fencepost: '1.0.0' };
    const wrong = [
      { ...chunk, chunk: 0, from: 1, to: Number.MAX_SAFE_INTEGER },
      { ...chunk, chunk: 1, from: 5, to: 1 },
      { ...chunk, chunk: 2, from: 25, to: 36, sweep: 's000000000000000' },
      { nonsense: true },
    ];
    for (const [at, data] of wrong.entries()) {
      await work.add('chunk', data, { jobId: jobIdOf(id, at), attempts: 5 });
    }
    const late = connection.queue(lateQueueOf(id));
    await late.add('late', { json: '{' }, { jobId: `${id}-0-x` });
    await connection.close();
    ours.coordinate();
    await ours.work();
    place.requireSame('wrong jobs and results', '5 times', await ours.ended());
    const told = ours.notes.filter((note) => note.includes('tried again'));
    expect(told.sort()).toEqual([
      'chunk 1 is tried again: it is for other seeds than its sweep has',
      'chunk 2 is tried again: it is for other seeds than its sweep has',
      'chunk 3 is tried again: it is a job of another sweep',
      'chunk 4 is tried again: this is no job that fencepost wrote',
    ]);
  });
}

function lawsOfWhatStays(test: Queues['test'], place: Place): void {
  test('nothing stays of a sweep that has ended, nor after a worker that slept through it', async () => {
    const [ours, server] = await place.begin();
    const id = sweepIdOf(place.recordOf());
    ours.coordinate();
    const sleeper = await ours.work();
    await ours.counted(3);
    await ours.begins(sleeper);
    sleeper.kill('SIGSTOP');
    expect(await server.withText(id)).not.toEqual([]);
    await ours.work();
    place.requireSame('worker paused past the end', 'once', await ours.ended());
    sleeper.kill('SIGCONT');
    await waitFor(async () => (await server.withText(id)).length === 0);
    // Whatever the workers still do, it leaves nothing.
    await later(1_000);
    expect(await server.withText(id)).toEqual([]);
  });

  test('a job is held for as long as it takes, and tried again as often as it may fail', async () => {
    const connection = await place.connect();
    const queue = connection.queue('held');
    const settings = { lockDuration: 300, stalledInterval: 50 };
    const worker = connection.worker('held', settings);
    await worker.startStalledCheckTimer();
    const backoff = { type: 'fixed', delay: 50 };
    await queue.add('chunk', { a: 1 }, { jobId: 'chunk-1', attempts: 2, backoff });
    const take = async (token: string): Promise<HeldJob> => {
      const job = await worker.getNextJob(token, { block: false });
      if (job === undefined) throw new Error('there is no job');
      return new HeldJob({ job, token, lockMs: 300 });
    };
    const first = await take('first');
    await later(1_000);
    expect(await worker.getNextJob('other', { block: false })).toBeUndefined();
    await first.fail(new Error('once'));
    first.release();
    expect((await queue.getJobCounts('delayed'))['delayed']).toBe(1);
    await later(100);
    const second = await take('second');
    expect(await second.complete({ done: true })).toBe(true);
    expect(await second.complete({ done: false })).toBe(false);
    second.release();
    expect((await queue.getJob('chunk-1'))?.returnvalue).toEqual({ done: true });
    await worker.close(true);
    await connection.close();
  });
}

async function waitFor(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    if (tries > 600) throw new Error('it never comes to be so');
    await later(50);
  }
}

function later(milliseconds: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
