// The tests that catch mutants: unit tests and short laws of the mutated code and of the systems
// that run in it. Files with mutants are loaded as plant.mjs wrote them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = process.env['FENCEPOST_MUTATION_FOLDER'];
const planted = new Map(
  JSON.parse(readFileSync(`${folder}/planted.json`, 'utf8')).files.map(({ name, content }) => [
    root + name,
    content,
  ]),
);

export default defineConfig({
  root,
  plugins: [{ name: 'planted', enforce: 'pre', load: (id) => planted.get(id) }],
  resolve: { alias: [{ find: /^fencepost$/, replacement: `${root}src/index.ts` }] },
  test: {
    include: [
      'src/{core,check,scenario,linearizability,systems,zoo}/**/*.test.ts',
      'src/search/{sweep,corpus}/*.test.ts',
      'src/{define-system,run}.test.ts',
      'src/report/{access-text,failure,history-report,plain-words}.test.ts',
      'src/search/campaign/campaign.test.ts',
      'src/cli/{output-files,run-scenarios}.test.ts',
      // Slow for a unit test, but in one process.
      'src/cli/check-{mistakes,reading}.slow.test.ts',
      'properties/{plain-classes,every-claim,every-rule,kept-plans,no-false-alarm}*.test.ts',
      'properties/{a-seed-gives,edits,shrunk,siblings,grant-order,fenced,chance}*.test.ts',
      'src/adapters/scenario-check/{exhaust,test-campaign}.test.ts',
      'src/host/async/{jobs,shrinking}.test.ts',
      'properties/{operation-names,a-trace-shows,second-opinions/*}*.test.ts',
    ],
    exclude: [
      // These mock a module, so each file would need its own copy of all modules.
      'src/{core/shrink/search,search/sweep/worker}.test.ts',
      'src/{core,check,scenario,linearizability,systems,zoo,search/sweep}/**/*.slow.test.ts',
      // This one judges no plan.
      'src/scenario/json-schema.test.ts',
      'src/{zoo/worker-lease/queue,systems/store/{version,store}-server}.test.ts',
      'src/systems/lock-service/in-line.test.ts',
    ],
    // All files share one copy of the modules, so that no mutant needs a reload.
    isolate: false,
    runner: `${root}tools/mutate/runner.mjs`,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: { GITHUB_ACTIONS: '', FENCEPOST_LAWS: 'short' },
  },
});
