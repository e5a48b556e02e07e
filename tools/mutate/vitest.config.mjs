// The tests that catch mutants: unit tests and short laws of what is mutated, and of the systems
// that run in it. What takes long comes last, since the first red test ends a mutant.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** From the first to the last that a mutant must get past; what none names comes first. */
const LATER = [
  /\/systems\//,
  /laws|json-schema|expand|plan-text|recorded|wide|decide|fast\.test|run\.test|mutants/,
  /src\/(cli|report)\//,
  /properties\//,
];

function rankOf({ moduleId }) {
  return LATER.findLastIndex((late) => late.test(moduleId));
}

class QuickFirst extends BaseSequencer {
  async sort(files) {
    return files.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

export default defineConfig({
  root,
  resolve: { alias: [{ find: /^fencepost$/, replacement: `${root}src/index.ts` }] },
  test: {
    include: [
      'src/{core,check,scenario,linearizability,systems}/**/*.test.ts',
      'src/search/{sweep,corpus}/*.test.ts',
      'src/search/mutants/*.test.ts',
      'src/{define-system,run}.test.ts',
      'src/host/modules/load-files.test.ts',
      'src/report/{access-text,failure,history-report,plain-words}.test.ts',
      'src/cli/{conclude,stages,sweep-scenario}.test.ts',
      // Slow for a unit test, but in one process.
      'src/cli/check{,-mistakes,-reading}.slow.test.ts',
      'properties/{plain-classes,every-claim,every-rule,kept-plans,no-false-alarm}*.test.ts',
    ],
    exclude: [
      // It mocks a module, for which each file would need its own copy of all modules.
      'src/core/shrink/search.test.ts',
      'src/{core,check,scenario,linearizability,systems,search/sweep}/**/*.slow.test.ts',
      'src/systems/{worker-lease/queue,store/version-server,lock-service/in-line}.test.ts',
    ],
    // All files share one copy of the modules: loading them is most of what a mutant costs.
    isolate: false,
    sequence: { sequencer: QuickFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: { GITHUB_ACTIONS: '', FENCEPOST_LAWS: 'short' },
  },
});
