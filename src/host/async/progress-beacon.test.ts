// Needs modules of its own: a run that another test never ends is still active in its thread.
import { expect, test } from 'vitest';
import { nameOf } from '../../core/kernel/name.ts';
import { Scheduler } from '../../core/kernel/scheduler.ts';
import { ProgressBeacon, publishProgress, within } from './progress-beacon.ts';

test('each simulated event, and each begin or end of a run, counts as progress', () => {
  const beacon = new ProgressBeacon();
  publishProgress(beacon.memory);
  let last = beacon.progress;
  const moved = (): number => {
    const by = beacon.progress - last;
    last = beacon.progress;
    return by;
  };
  const scheduler = new Scheduler();
  for (const name of ['a', 'b', 'c']) {
    scheduler.schedule({
      timeUs: 1,
      tie: 0,
      name: nameOf(name),
      seq: 0,
      isCancelled: false,
      fire: () => {},
    });
  }
  expect(moved()).toBe(0);
  scheduler.run({ endUs: 10, maxEvents: 10 });
  expect(moved()).toBe(3);
  within(
    () => 'a run',
    false,
    () => expect(beacon.activity).toBe('user code'),
  );
  expect([moved(), beacon.activity, beacon.what]).toEqual([2, 'nothing', 'a run']);
});

test('code of fencepost after a run keeps the name of the run', () => {
  const beacon = new ProgressBeacon();
  publishProgress(beacon.memory);
  within(
    () => 'a run',
    false,
    () => {},
  );
  within(null, true, () =>
    expect([beacon.activity, beacon.what]).toEqual(['fencepost code', 'a run']),
  );
});
