/**
 * Checks `docs/choose.md`: each risk that `init --lock` writes has a row, whose command shows it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { lockRisks } from '../../src/cli/lock-risks.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${root}docs/choose.md`, 'utf8');
const replayed = [...page.matchAll(/`fencepost replay ([^`]+)`/g)].map(([, plans = '']) =>
  plans.split(' '),
);

const planOf = (name: string): string => `${root}fixtures/plans/${name}.yaml`;

test.each(replayed)(
  'the plan %s reproduces, and the others of its row are fixed',
  (first, ...others) => {
    expect([first, ...others].filter((name) => !existsSync(planOf(name)))).toEqual([]);
    expect(readFileSync(planOf(first ?? ''), 'utf8')).toMatch(/outcome: reproduced/);
    for (const other of others) {
      expect(readFileSync(planOf(other), 'utf8'), other).toMatch(/outcome: fixed/);
    }
  },
);

test('every lock risk has a row, and every lock has a command that starts with it', () => {
  for (const [lock, risks] of Object.entries(lockRisks)) {
    expect(page).toContain(`\`fencepost init --lock ${lock}\``);
    for (const risk of Object.keys(risks)) {
      const plan = risk === 'no-token' ? `${risk}-${lock}-` : `${risk}-`;
      expect(replayed.filter(([first = '']) => first.startsWith(plan)).length, risk).toBe(1);
    }
  }
});

test('each `run` on the page names a scenario of the package', () => {
  const named = [...page.matchAll(/`fencepost run ([a-z-]+)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(1);
  for (const name of named) expect(existsSync(`${root}fixtures/${name}.yaml`), name).toBe(true);
});
