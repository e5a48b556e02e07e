/** Law: whoever is refused can be told why, whatever the store and whatever happened. */
import { beforeAll, expect, test } from 'vitest';
import { refusalReason } from '../src/report/access-text.ts';
import { run } from '../src/run.ts';
import { prepare, storeKinds } from '../src/systems/store/store-kinds.ts';
import { runnablePlans, samplePlans } from './plans.ts';
import { runs } from './runs.ts';

const stores = [...storeKinds.keys()];

beforeAll(() => prepare(stores.map((store) => ({ store }))));

/** Accesses that a store refuses in some runs, with the reason that is told of each. */
function reasonsOf(store: string): readonly string[] {
  return samplePlans(runnablePlans({ stores: [store] }), runs(100), 1).flatMap((plan) =>
    run(plan).events.flatMap((event) =>
      (event.kind === 'write' || event.kind === 'read') && !event.isAccepted
        ? [refusalReason(event)]
        : [],
    ),
  );
}

test.each(stores)('%s says why it refuses', (store) => {
  expect(reasonsOf(store)).not.toContain('');
});

test('most stores refuse something in these runs', () => {
  const refusing = stores.filter((store) => reasonsOf(store).length > 0);
  expect(refusing.length).toBeGreaterThan(stores.length / 2);
});
