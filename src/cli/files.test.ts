import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { renderPlan } from '../core/plan/plan-text.ts';
import { loadScenarioFile } from '../host/modules/load-files.ts';
import { expand } from '../scenario/expand.ts';
import { UserError } from './exit.ts';
import { loadPlan, makeFolder, openFolder, writeText } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a folder that is opened exists, and nothing is left in it', () => {
  const inner = join(folder, 'a/b');
  openFolder(inner);
  expect(readdirSync(inner)).toEqual([]);
});

test('a folder that is a file is refused', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => openFolder(file)).toThrow(UserError);
});

test.skipIf(!existsSync('/proc/self'))('a folder that takes no files is refused', () => {
  expect(() => openFolder('/proc/self')).toThrow('/proc/self:1:1: takes no new files');
});

test.skipIf(!existsSync('/proc/self'))(
  'a folder that cannot be made is refused, and not tried for ever',
  () => {
    expect(() => makeFolder('/proc/nope/reports')).toThrow('/proc/nope/reports:1:1: cannot be');
    expect(() => writeText('/proc/nope/plan.yaml', '')).toThrow(UserError);
  },
);

test('folders are made with those above them', () => {
  const deep = join(folder, 'a/b/../c');
  makeFolder(deep);
  makeFolder(deep);
  expect(existsSync(join(folder, 'a/c'))).toBe(true);
});

test('a plan whose modules lie elsewhere is told of the option that helps', async () => {
  const modules = fileURLToPath(new URL('../../fixtures/modules/', import.meta.url));
  const read = await loadScenarioFile(join(modules, 'spin-lock.yaml'));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const file = join(folder, 'plan.yaml');
  writeFileSync(file, renderPlan(expand(read.scenario, 'naive', 6)));
  const refusal = await loadPlan(file, { modules: null }).catch((error: unknown) => error);
  expect(refusal).toEqual(
    new UserError([
      `${file}:4:3 use["./spin-lock.mjs"]: ./spin-lock.mjs: there is no such file; ` +
        "name the scenario's folder with --modules, or keep the plan beside the scenario",
    ]),
  );
  expect((await loadPlan(file, { modules })).changedModules).toEqual([]);
});
