import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ClientPlan } from '../../core/plan/plan.ts';
import { planOf } from '../../systems/plan.fixture.ts';
import { alice, type Body, catalogueOf, write } from './body.fixture.ts';
import { examineAsync } from './run-async.ts';

const lines = readFileSync(new URL(import.meta.url), 'utf8').split('\n');
const never = (): Promise<never> => new Promise(() => {});

/** Returns the marks of the lines at which the sections of alice wait when the run ends. */
async function marksOf(body: Body, more: Partial<ClientPlan> = {}): Promise<readonly string[]> {
  const plan = planOf({ clients: [alice(2, [write], more)], lock: 'own', store: 'unfenced' });
  const { trace } = await examineAsync(plan, ['progress'], catalogueOf(body));
  return (trace.sections ?? []).map(({ end }) => {
    const place = (end.kind === 'open' ? end.wait?.place : null) ?? '';
    const [, line] = /^waits\.test\.ts:(\d+)$/.exec(place) ?? [];
    return /\/\/ (.*)$/.exec(lines[Number(line) - 1] ?? '')?.[1] ?? place;
  });
}

test('concurrent sections of a process wait at places of their own', async () => {
  const body: Body = async ({ id }) => {
    if (id === 1) await never(); // in the first
    await sleep(1);
    await never(); // in the second
  };
  expect(await marksOf(body, { concurrency: 2 })).toEqual(['in the first', 'in the second']);
  expect(await marksOf(body)).toEqual(['in the first']);
});

test('a section waits neither for work beside it nor for the loser of a race', async () => {
  const inner = async (isFirst: boolean): Promise<void> => {
    await (isFirst ? never() : sleep(1)); // in inner
  };
  const isBeside: Body = async () => {
    void inner(true);
    await never(); // in the section
  };
  const isRaced: Body = async () => {
    await Promise.race([inner(true), inner(false)]);
    await sleep(2);
    await never(); // after the race
  };
  expect(await marksOf(isBeside)).toEqual(['in the section']);
  expect(await marksOf(isRaced)).toEqual(['after the race']);
});

test('a section waits in the function that it calls, even after earlier waits there', async () => {
  const inner = async (): Promise<void> => {
    for (let tries = 0; tries < 3; tries += 1) await sleep(1);
    await never(); // in inner
  };
  const outer = async (): Promise<void> => {
    await inner();
  };
  const atOnce = async (): Promise<void> => {
    await never(); // at once
  };
  expect(await marksOf(async () => await outer())).toEqual(['in inner']);
  expect(await marksOf(() => outer())).toEqual(['in inner']);
  const all: Body = async () => void (await Promise.all([sleep(1), atOnce()]));
  expect(await marksOf(all)).toEqual(['at once']);
});
