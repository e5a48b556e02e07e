/** Reads the `package.json` of packages: ours, those of a project, and those that we may use. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';

/** The fields that are looked at; those that are missing are empty. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly bin: string | Readonly<Record<string, string>>;
  /** Paths, under whatever conditions. */
  readonly exports: unknown;
}

const words = z.record(z.string(), z.string());

const manifest: z.ZodType<Manifest> = z.object({
  name: z.string().default(''),
  version: z.string().default(''),
  engines: words.default({}),
  peerDependencies: words.default({}),
  bin: z.union([z.string(), words]).default({}),
  exports: z.unknown().default({}),
});

/** Null where there is none, or it is not readable. */
export function readManifest(folder: string): Manifest | null {
  try {
    return manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** The folder of an installed package, as code in `folder` would find it; null for none. */
export function findPackage(name: string, folder: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (readManifest(at)?.name === name) return at;
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return found;
    if (dirname(at) === at) return null;
  }
}
