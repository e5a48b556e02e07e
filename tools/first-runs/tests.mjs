// Runs tests of asynchronous code, each as the first one in a fresh thread that Node has not
// initialized yet: `node tools/first-runs/tests.mjs`. Prints the failed tests and a summary.
// FENCEPOST_FIRST sets how many are run, spread over all of them: default 8, or `all`.
import process from 'node:process';
import { createVitest } from 'vitest/node';

const asked = process.env.FENCEPOST_FIRST ?? '8';

const setting = { watch: false, isolate: true, pool: 'threads', project: ['shared', 'apart'] };
const vitest = await createVitest('test', { ...setting, reporters: [{}] });
const files = (await vitest.globTestSpecifications(['src/host/'])).filter(({ moduleId }) =>
  /\/src\/host\/(async|network|realm)\/[^/]*\.test\.ts$/.test(moduleId),
);
const { testModules } = await vitest.collectTests(files);
const byFile = testModules.map(({ project, moduleId, children }) => ({
  project,
  moduleId,
  ids: [...children.allTests()].map(({ id }) => id),
}));

const total = byFile.reduce((sum, { ids }) => sum + ids.length, 0);
const step = asked === 'all' ? 1 : Math.max(1, Math.floor(total / Number(asked)));
let seen = 0;
for (const file of byFile) file.ids = file.ids.filter(() => seen++ % step === 0);

// Each round contains a file once, since results of a file are not distinguished.
let ran = 0;
const failed = [];
for (let round = 0; ; round += 1) {
  const due = byFile.filter(({ ids }) => ids.length > round);
  if (due.length === 0) break;
  await vitest.runTestSpecifications(
    due.map(({ project, moduleId, ids }) =>
      project.createSpecification(moduleId, { testIds: [ids[round]] }),
    ),
  );
  for (const { moduleId, ids } of due) {
    const module = vitest.state.getTestModules().find((one) => one.moduleId === moduleId);
    const test = [...(module?.children.allTests() ?? [])].find(({ id }) => id === ids[round]);
    const { state, errors = [] } = test?.result() ?? { state: 'missing' };
    if (state === 'skipped') continue;
    ran += 1;
    if (state !== 'passed') failed.push({ name: `${moduleId} > ${test?.fullName}`, errors });
  }
}
await vitest.close();

for (const { name, errors } of failed) {
  process.stdout.write(`✗ ${name}\n`);
  for (const { message } of errors) process.stdout.write(`    ${message.split('\n')[0]}\n`);
}
process.stdout.write(`${ran} of ${total} tests, each first in a thread: ${failed.length} failed\n`);
process.exit(failed.length > 0 || ran === 0 ? 1 : 0);
