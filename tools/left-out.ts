/**
 * Prints, after all other output of a vitest run, a line with the tests that were left out because
 * the machine lacks a program, and a line with what this tier leaves to the next one. The tiers are
 * scripts of package.json: `quick`, `test`, `test:all`, `nightly`.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { Plugin } from 'vitest/config';
import type { Reporter, TestCase, TestSuite, Vitest } from 'vitest/node';

/** Programs that tests may need, and the Debian package of each, or null. */
const PACKAGES = {
  'redis-server': 'redis-server',
  'a C compiler': 'gcc',
  chromium: 'chromium',
  etcd: 'etcd-server',
  postgres: 'postgresql',
  'npm’s registry': null,
} as const;

export type Program = keyof typeof PACKAGES;

/** Reporters that print a document, in which another line would be an error. */
const DOCUMENTS: readonly unknown[] = ['json', 'junit', 'tap', 'tap-flat'];

const NAME = 'reports-left-out';

/**
 * Adds the line to the reporters of a run, since the configuration could only replace them. Prints
 * it to stdout, or to stderr if stdout may be a document.
 */
export function reportLeftOut(): Plugin {
  return {
    name: NAME,
    configureVitest({ vitest }) {
      const { reporters } = vitest.config;
      // Each project loads this plugin again; one line is enough for all.
      if (
        reporters.some(
          (reporter) =>
            !Array.isArray(reporter) && typeof reporter === 'object' && NAME in reporter,
        )
      ) {
        return;
      }
      const isDocument = reporters.some(
        (reporter) => Array.isArray(reporter) && DOCUMENTS.includes(reporter[0]),
      );
      const print = isDocument ? 'error' : 'log';
      reporters.push(leftOutReporter(vitest, (line) => vitest.logger[print](line)));
    },
  };
}

function leftOutReporter(
  vitest: Vitest,
  print: (line: string) => void,
): Reporter & { readonly [NAME]: true } {
  return {
    [NAME]: true,
    onTestRunEnd(modules) {
      const pattern = vitest.getGlobalTestNamePattern() ?? /^/;
      const tests = modules.flatMap(({ children }) => [...children.allTests('skipped')]);
      const wanted = tests.filter((test) => fullNameOf(test).search(pattern) !== -1);
      // A run that sets the depth of laws itself, as `npm run nightly` does, prints no tier line.
      const { npm_lifecycle_event: script, FENCEPOST_LAWS: depth } = process.env;
      const lines = [
        leftOutLine(wanted.flatMap((test) => test.meta().needs ?? [])),
        tierLine(depth === undefined ? script : undefined, {
          run: modules.length,
          all: testFiles().length,
          turn: turnOf(process.env),
        }),
      ];
      for (const line of lines) if (line !== null) print(line);
    },
  };
}

/** The full name that a name pattern is matched with. */
function fullNameOf({ name, parent }: TestCase | TestSuite): string {
  return parent.type === 'module' ? name : `${fullNameOf(parent)} ${name}`;
}

/** Returns the line on tests left out, given the program that each needs, or null without any. */
export function leftOutLine(needed: readonly Program[]): string | null {
  const programs = [...new Set(needed)].sort();
  if (programs.length === 0) return null;
  const counts = programs.map((program, at) => {
    const count = needed.filter((other) => other === program).length;
    const [tests, need] = count === 1 ? [' test', 'needs'] : [' tests', 'need'];
    return `${count}${at === 0 ? tests : ''} that ${need} ${program}`;
  });
  const packages = programs.flatMap((program) => PACKAGES[program] ?? []);
  const mended = packages.length === 0 ? '' : ` (apt-get install ${packages.join(' ')})`;
  return `left out: ${counts.join(', ')}${mended}`;
}

/** Returns the line on what a tier leaves to the next one; null if the run is not a tier. */
export function tierLine(
  script: string | undefined,
  { turn, ...files }: { readonly run: number; readonly all: number; readonly turn: string },
): string | null {
  const rest = `${files.all - files.run} of ${files.all} test files`;
  const laws = `most runs of each law (all but those of FENCEPOST_TURN=${turn})`;
  switch (script) {
    case 'quick':
      return `left out: ${rest}, the linter and the build (npm test)`;
    case 'test':
      return `left out: ${rest}: servers, browsers, packed installs, the fleet, the verdict table; ${laws} (npm run test:all)`;
    case 'test:all':
      return `left out: ${laws}, every second sweep of a fixture, of npm’s lock packages and of the explained third-party locks, half of the repeated layouts, of the fleet’s faults and of the longest tests of init and vitest, 10,000 seeds per row of the verdict table, the mutants of fencepost itself, other versions of Node (npm run nightly)`;
    default:
      return null;
  }
}

/**
 * Selects the part of their lists that laws use (`properties/runs.ts`): FENCEPOST_TURN, or else a
 * number derived from the commit; 0 without a repository.
 */
export function turnOf({ FENCEPOST_TURN: wished }: NodeJS.ProcessEnv): string {
  if (wished !== undefined && /^\d{1,9}$/.test(wished)) return wished;
  try {
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { stdio: 'pipe', encoding: 'utf8' });
    return String(Number.parseInt(head.slice(0, 6), 16) % 10);
  } catch {
    return '0';
  }
}

/** Returns every test file, as a path from the project root. */
export function testFiles(): string[] {
  return ['src', 'properties', 'tools'].flatMap((folder) =>
    readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => `${folder}/${file}`),
  );
}
