/** The table's last row for every other lock; in two files, so that they run concurrently. */
import { expect, test } from 'vitest';
import { protocols } from '../../src/parts.ts';
import { storeKinds } from '../../src/systems/store/store-kinds.ts';
import { calm, isLockService, SABOTEUR } from './calm.ts';
import { testCalm } from './calm-law.ts';

testCalm(calm.filter((system) => !isLockService(system)));

test('every lock and every store that keeps data is included', () => {
  const locks = new Set(calm.map(({ lock }) => lock));
  const stores = new Set([SABOTEUR, ...calm.flatMap((system) => system.stores)]);
  expect([...protocols.keys()].filter((lock) => !locks.has(lock))).toEqual([]);
  expect([...storeKinds.keys()].filter((store) => !stores.has(store))).toEqual([]);
});
