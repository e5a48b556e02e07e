/**
 * Creates a project in a temporary folder, with fencepost and vitest installed, and runs vitest on
 * its tests.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The status of a test, and its failure message. */
export interface Ended {
  readonly status: string;
  readonly message: string;
}

export interface Ran {
  readonly code: number | null;
  readonly output: string;
  /** Results by test name, without tests that were filtered out. */
  readonly tests: ReadonlyMap<string, Ended>;
}

type Settings = Readonly<Record<string, string>>;

export class Project {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'fencepost-vitest-')));

  constructor(files: Settings) {
    this.write('package.json', '{ "type": "module" }');
    for (const [path, text] of Object.entries(files)) this.write(path, text);
    const { dependencies = {}, exports } = packageOf(root);
    for (const name of [...Object.keys(dependencies), 'vitest']) this.link(name);
    const home = join(this.folder, 'node_modules/fencepost');
    mkdirSync(home);
    const manifest = JSON.stringify({ name: 'fencepost', type: 'module', exports });
    writeFileSync(join(home, 'package.json'), manifest);
    cpSync(join(root, 'dist'), join(home, 'dist'), { recursive: true });
  }

  /** Links a package of this repository, as if it were installed. */
  link(name: string): void {
    const place = join(this.folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }

  /** Links fencepost as in a monorepo: vitest transforms it like the project's own files. */
  linkFencepost(): void {
    const place = join(this.folder, 'node_modules/fencepost');
    rmSync(place, { recursive: true });
    symlinkSync(root, place);
  }

  write(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  /** Starts vitest, with `more` in the environment. */
  start(args: readonly string[], more: Settings = {}): ChildProcessWithoutNullStreams {
    return this.startNode(join(root, 'node_modules/vitest/vitest.mjs'), args, more);
  }

  startNode(
    script: string,
    args: readonly string[] = [],
    more: Settings = {},
  ): ChildProcessWithoutNullStreams {
    const inherited = Object.entries(process.env).filter(([name]) => !isOfTests(name));
    const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', CI: '', ...more };
    return spawn(process.execPath, [script, ...args], { cwd: this.folder, env });
  }

  /** Runs `vitest run` with these arguments. */
  async run(args: readonly string[], more: Settings = {}): Promise<Ran> {
    const report = join(this.folder, `report-${Math.trunc(performance.now() * 1000)}.json`);
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`];
    const child = this.start(['run', ...reporters, ...args], more);
    const output = outputOf(child);
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, output: output(), tests: endings(report) };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns true for variables that vitest sets, or that configure fencepost. */
function isOfTests(name: string): boolean {
  return /^(VITEST|FENCEPOST|TEST$|MODE$|DEV$|PROD$|SSR$|BASE_URL$|NODE_ENV$|FORCE_)/.test(name);
}

/** Collects the output of a process. Returns a function that returns the output so far. */
export function outputOf(child: ChildProcessWithoutNullStreams): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  return () => text;
}

interface Package {
  readonly dependencies?: Settings;
  readonly exports: unknown;
}

function packageOf(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function endings(file: string): ReadonlyMap<string, Ended> {
  const report: Report = JSON.parse(readFileSync(file, 'utf8'));
  return new Map(
    report.testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ title, status, failureMessages }): [string, Ended] => [
        title,
        { status, message: failureMessages.join('\n') },
      ]),
    ),
  );
}
