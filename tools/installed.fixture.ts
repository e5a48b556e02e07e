/** Installs the package in a folder as a package manager would, without downloads. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('../', import.meta.url));
const manifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });

export interface Tarball {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const entry = z.object({ path: z.string(), size: z.number() });
const tarball: z.ZodType<Tarball> = z.object({
  filename: z.string(),
  size: z.number(),
  files: z.array(entry),
});

/** Returns the names of the dependencies of the package in a folder. */
export function needsOf(folder: string): readonly string[] {
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  return Object.keys(manifest.parse(JSON.parse(text)).dependencies);
}

/** Packs the built package into a folder. */
export function pack(folder: string): Tarball {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  const [packed] = z.tuple([tarball]).parse(JSON.parse(stdout));
  return packed;
}

/** Unpacks the package with its dependencies and those of `others`, and nothing else. */
export function install(
  folder: string,
  others: readonly string[] = [],
  { filename }: Tarball = pack(folder),
): void {
  const home = join(folder, 'node_modules/fencepost');
  mkdirSync(home, { recursive: true });
  spawnSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', home]);
  for (const name of [...needsOf(root), ...others]) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }
}
