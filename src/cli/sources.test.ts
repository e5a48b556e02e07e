/** Tests which scenarios and plans are read, and the messages for those that are not. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { renderPlan } from '../core/plan/plan-text.ts';
import { loadScenarioFile } from '../host/modules/load-files.ts';
import { expand } from '../scenario/expand.ts';
import { UserError } from './exit.ts';
import { loadPlan } from './sources.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-sources-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a plan whose modules are elsewhere is refused, with the option that helps', async () => {
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

test('the event loop runs between two plans, so that progress can be reported', async () => {
  let turns = 0;
  const turn = setImmediate(function count() {
    turns += 1;
    if (turns < 3) setImmediate(count);
  });
  const named = 'zombie-writer-unfenced-grant-order';
  for (let at = 0; at < 3; at += 1) await loadPlan(named, { modules: null });
  clearImmediate(turn);
  expect(turns).toBe(3);
});
