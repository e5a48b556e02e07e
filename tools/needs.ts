/** Declares the program that a test needs: without it the test is left out and counted. */
import { type TestAPI, TestRunner, test } from 'vitest';
import type { Program } from './left-out.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The missing program for which the test was left out. */
    needs?: Program;
  }
}

/**
 * Returns a `test` that needs a program. Without the program, neither the test nor the hooks of a
 * file or `describe` without other tests run; the end of the run reports what was left out.
 */
export function needs(program: Program, isThere: boolean): TestAPI {
  if (isThere) return test;
  return TestRunner.createTaskCollector((name: string) => {
    TestRunner.getCurrentSuite().task(name, { skip: true, meta: { needs: program } });
  });
}
