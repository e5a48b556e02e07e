/** A test that never ends is named on the terminal, and ended, in each pool. */
import { afterAll, expect, test } from 'vitest';
import { outputOf, Project } from './project.fixture.ts';

/** Returns a test whose body runs `what` in a tenth of its sections. */
function testThat(what: string): string {
  return `import { simTest } from 'fencepost/vitest';
simTest('holds', { seeds: 50, clients: { count: 2 }, faults: [] }, async (section: any) => {
  if (Math.random() < 0.1) ${what}
  await section.guard({ token: 1 }, (guard: any) => guard.work());
});
`;
}

const project = new Project({
  'loop.test.ts': testThat('for (;;);'),
  'chain.test.ts': testThat('for (;;) await null;'),
  'growing.test.ts': testThat('for (const kept = []; ; ) kept.push({ kept: [] });'),
});
afterAll(() => project.remove());

type Limits = Readonly<Record<string, string>>;
/** One pool uses the default limit; the watchdog of the others is the same. */
const SHORT: Limits = { FENCEPOST_STALL_MS: '1000' };

/** Returns the exit code and the output of vitest. */
async function run(
  file: string,
  pool: string,
  limits: Limits,
): Promise<{ code: number | null; output: string }> {
  const child = project.start(['run', file, `--pool=${pool}`], limits);
  const output = outputOf(child);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output: output() };
}

const LIMIT = { timeout: 60_000 };

const cases = [
  ['loop', 'forks', 'did not finish: 5 s of CPU time without an event, at loop.test.ts:\\d+', {}],
  [
    'loop',
    'threads',
    'did not finish: 1 s of CPU time without an event, at loop.test.ts:\\d+',
    SHORT,
  ],
  ['chain', 'forks', 'failed: \\w+: it never waits', {}],
  [
    'growing',
    'forks',
    'did not finish: (5 s of CPU time without an event|heap out of memory), at growing',
    {},
  ],
] as const;

test.each(cases)(
  '%s in %s: seed and command are printed, and vitest ends',
  LIMIT,
  async (...one) => {
    const [name, pool, why, limits] = one;
    const { code, output } = await run(`${name}.test.ts`, pool, limits);
    expect(code).not.toBe(0);
    expect(output).toMatch(new RegExp(`✗ holds: seeds? \\d+ (.*)(${why})`));
    expect(output).toMatch(/FENCEPOST_SEED=\d+ npx vitest run \w+\.test\.ts -t holds/);
  },
);
