/**
 * Applies the recipes of `docs/architecture.md` to a copy of the project. A block is an edit; the
 * lines around it state its place. A file in `fixtures/recipes` that a recipe names is new.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pageOf } from './pages.ts';

const root: string = fileURLToPath(new URL('../../', import.meta.url));

/** One step of a recipe. */
export interface Block {
  readonly path: string;
  /** False for a new file. */
  readonly isEdit: boolean;
  readonly text: string;
}

const folder = join(root, 'fixtures/recipes');

/** The new files of all recipes, by their path in the project. */
export const newFiles: readonly string[] = readdirSync(folder, {
  recursive: true,
  encoding: 'utf8',
}).filter((path) => path.endsWith('.ts'));

/** Returns the new files and the edits of each recipe, by its heading. */
export function readRecipes(): ReadonlyMap<string, readonly Block[]> {
  const sections = pageOf('docs/architecture.md')
    .split(/^###? /m)
    .slice(1);
  const recipes = sections.map((section): readonly [string, readonly Block[]] => {
    const added = newFiles
      .filter((path) => section.includes(`\`${path}\``))
      .map((path) => ({ path, isEdit: false, text: readFileSync(join(folder, path), 'utf8') }));
    const edits = [...section.matchAll(/^```diff (\S+)\n([\s\S]*?)^```$/gm)].map(
      ([, path = '', text = '']) => ({ path, isEdit: true, text }),
    );
    return [section.slice(0, section.indexOf('\n')), [...added, ...edits]];
  });
  return new Map(recipes.filter(([, blocks]) => blocks.length > 0));
}

/** Applies an edit to a file's text; throws unless its context lines occur exactly once. */
export function edited(text: string, edit: Pick<Block, 'path' | 'text'>): string {
  return edit.text.split(/^@@\n/m).reduce((now, hunk) => {
    const lines = hunk.split('\n').slice(0, -1);
    const side = (sign: string): string =>
      lines.map((line) => (line.startsWith(sign) ? '' : `${line.slice(1)}\n`)).join('');
    const [before, after] = [side('+'), side('-')] as const;
    const text = `\n${now}`;
    const at = text.indexOf(`\n${before}`) + 1;
    if (at === 0 || text.includes(`\n${before}`, at)) {
      throw new Error(`${edit.path} does not have these lines, or not only once:\n${before}`);
    }
    return `${text.slice(1, at)}${after}${text.slice(at + before.length)}`;
  }, text);
}

/** A copy of the project in a separate folder. */
export class Copy {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'fencepost-recipes-'));
  private readonly touched: Set<string> = new Set();

  constructor() {
    for (const name of ['src', 'properties', 'tools', 'docs', 'fixtures/guide']) this.take(name);
    for (const name of ['package.json', 'biome.json', 'vitest.config.ts']) this.take(name);
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
    this.take('tsconfig.json');
  }

  private take(name: string): void {
    cpSync(join(root, name), join(this.folder, name), { recursive: true });
  }

  /** Writes the new files and edits of blocks. */
  apply(blocks: readonly Block[]): void {
    for (const block of blocks) {
      const file = join(this.folder, block.path);
      this.touched.add(block.path);
      mkdirSync(dirname(file), { recursive: true });
      const text = block.isEdit ? edited(readFileSync(file, 'utf8'), block) : block.text;
      writeFileSync(file, text);
    }
  }

  /** Undoes all changes. */
  restore(): void {
    for (const path of this.touched) {
      rmSync(join(this.folder, path));
      try {
        this.take(path);
      } catch {
        // It is a new file of the recipe.
      }
    }
    this.touched.clear();
  }

  /** Returns the compiler's errors, or ''. */
  typeErrors(): string {
    const cache = ['--incremental', '--tsBuildInfoFile', join(this.folder, 'types.json')];
    return this.run('typescript/bin/tsc', ['--noEmit', ...cache]).stdout;
  }

  /** Returns the errors of the formatter and linter in changed files, or ''. */
  styleErrors(): string {
    const files = [...this.touched].filter((path) => path.endsWith('.ts'));
    const { status, stdout, stderr } = this.run('@biomejs/biome/bin/biome', [
      'check',
      '--error-on-warnings',
      '--vcs-enabled=false',
      ...files,
    ]);
    return status === 0 ? '' : `${stdout}${stderr}`;
  }

  /** Runs tests; returns the exit code and the output. */
  test(files: readonly string[]): { readonly code: number | null; readonly out: string } {
    const { status, stdout, stderr } = this.run('vitest/vitest.mjs', ['run', ...files]);
    return { code: status, out: `${stdout}${stderr}` };
  }

  private run(bin: string, args: readonly string[]): SpawnSyncReturns<string> {
    const script = join(root, 'node_modules', bin);
    return spawnSync('node', [script, ...args], { cwd: this.folder, encoding: 'utf8' });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
