/**
 * Says in one line each, after everything else of a run of vitest, which tests were left out
 * because the machine lacks the program that they need, and what the tier that runs leaves to the
 * next one. The tiers are scripts of package.json: `quick`, `test`, `test:all`, `nightly`.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { Plugin } from 'vitest/config';
import type { Reporter, TestCase, TestSuite, Vitest } from 'vitest/node';

/** What tests may need, and the Debian package of each; null where none brings it. */
const PACKAGES = {
  'redis-server': 'redis-server',
  'a C compiler': 'gcc',
  chromium: 'chromium',
  etcd: 'etcd-server',
  postgres: 'postgresql',
  'npm’s registry': null,
} as const;

export type Program = keyof typeof PACKAGES;

/** These print a document, in which a line of ours would be a mistake. */
const DOCUMENTS: readonly unknown[] = ['json', 'junit', 'tap', 'tap-flat'];

const NAME = 'tells-left-out';

/**
 * Adds the line to whatever reporters a run has, as the configuration can only name others in
 * their place. It goes to stdout, or to stderr where stdout may be a document.
 */
export function tellsLeftOut(): Plugin {
  return {
    name: NAME,
    configureVitest({ vitest }) {
      const { reporters } = vitest.config;
      // Each project loads this plugin anew; one line is enough for all.
      if (reporters.some((one) => !Array.isArray(one) && typeof one === 'object' && NAME in one)) {
        return;
      }
      const isDocument = reporters.some((one) => Array.isArray(one) && DOCUMENTS.includes(one[0]));
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
      // Who says how deep laws go, as `npm run nightly` does, knows what comes after.
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

/** As a pattern for names is matched with it. */
function fullNameOf({ name, parent }: TestCase | TestSuite): string {
  return parent.type === 'module' ? name : `${fullNameOf(parent)} ${name}`;
}

/** What is told of tests left out, given what each of them needs; null where there are none. */
export function leftOutLine(needed: readonly Program[]): string | null {
  const programs = [...new Set(needed)].sort();
  if (programs.length === 0) return null;
  const told = programs.map((program, at) => {
    const count = needed.filter((one) => one === program).length;
    const [tests, need] = count === 1 ? [' test', 'needs'] : [' tests', 'need'];
    return `${count}${at === 0 ? tests : ''} that ${need} ${program}`;
  });
  const packages = programs.flatMap((program) => PACKAGES[program] ?? []);
  const mended = packages.length === 0 ? '' : ` (apt-get install ${packages.join(' ')})`;
  return `left out: ${told.join(', ')}${mended}`;
}

/** What a tier leaves to the next one; null for a run that is no tier, as one of a single file. */
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
      return `left out: ${laws}, each second sweep of a fixture, of npm’s lock packages and of the foreign locks that are explained, half of the repeated layouts, 10,000 seeds a row of the verdict table, the mutants of fencepost itself, other versions of Node (npm run nightly)`;
    default:
      return null;
  }
}

/**
 * Which part of their lists laws go through (`properties/runs.ts`): what FENCEPOST_TURN says, else
 * a number that the commit gives; 0 where there is none.
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

/** Every file of tests, as a path from the root of the project. */
export function testFiles(): string[] {
  return ['src', 'properties', 'tools'].flatMap((folder) =>
    readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => `${folder}/${file}`),
  );
}
