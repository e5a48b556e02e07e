/** Law: every refusal of a store has a reason, for any store and any faults. */
import { beforeAll, expect, test } from 'vitest';
import { refusalReason } from '../src/report/state-phrases.ts';
import { run } from '../src/run.ts';
import { prepare, storeKinds } from '../src/systems/store/store-kinds.ts';
import { runnablePlans, samplePlans } from './plans.ts';
import { runs } from './runs.ts';

const stores = [...storeKinds.keys()];

beforeAll(() => prepare(stores.map((store) => ({ store }))));

/** Fewer plans show too few refusals. */
const FEWEST_PLANS = 30;
const reasonsSeen = new Map<string, readonly string[]>();

/** Returns the reasons of the accesses that a store refuses in some runs. */
function reasonsOf(store: string): readonly string[] {
  const plans = Math.max(FEWEST_PLANS, runs(100));
  return samplePlans(runnablePlans({ stores: [store] }), plans, 1).flatMap((plan) =>
    run(plan).events.flatMap((event) =>
      (event.kind === 'write' || event.kind === 'read') && !event.isAccepted
        ? [refusalReason(event)]
        : [],
    ),
  );
}

test.each(stores)('%s gives a reason for each refusal', (store) => {
  reasonsSeen.set(store, reasonsOf(store));
  expect(reasonsSeen.get(store)).not.toContain('');
});

test('most stores refuse an access in these runs', () => {
  const refusing = [...reasonsSeen.values()].filter((reasons) => reasons.length > 0);
  expect(refusing.length).toBeGreaterThan(reasonsSeen.size / 2);
});
