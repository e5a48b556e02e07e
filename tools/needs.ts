/** How a test says which program it needs: where there is none it is left out, and counted. */
import { type TestAPI, TestRunner, test } from 'vitest';
import type { Program } from './left-out.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What the test was left out for. */
    needs?: Program;
  }
}

/**
 * A `test` that needs a program. Where it is not there, nothing of the test runs, nor do the hooks
 * of a file or a `describe` that has no other tests; the end of the run says what was left out.
 */
export function needs(program: Program, isThere: boolean): TestAPI {
  if (isThere) return test;
  return TestRunner.createTaskCollector((name: string) => {
    TestRunner.getCurrentSuite().task(name, { skip: true, meta: { needs: program } });
  });
}
