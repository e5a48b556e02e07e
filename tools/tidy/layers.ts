/**
 * Decides which modules may import which. The layers stand in one line; each imports from those to
 * its left and from itself. The bans that carry the design are stricter than the line: checkers
 * never see the world or the systems, the shrinker sees neither, and the linearizability checker
 * could be a package of its own.
 */
import {
  isCallExpression,
  isExportDeclaration,
  isExternalModuleReference,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTest, nodesOf, type Rule, type Source, stringOf, violation } from './source.ts';

/**
 * From left to right: layers, the modules of `core`, and the files in the root of `src`, each after
 * the last one that it may import.
 */
const LAYERS: readonly string[] = [
  'text',
  'core/kernel',
  'core/plan',
  'core/history',
  'linearizability',
  'check.ts',
  'core/world',
  'systems',
  'servers.ts',
  'zoo',
  'parts.ts',
  'run.ts',
  'check',
  'scenario',
  'core/shrink',
  'catalogue.ts',
  'define-system.ts',
  'examine.ts',
  'harness.ts',
  'load.ts',
  'host',
  'redis.ts',
  'search',
  'report',
  'library.ts',
  'adapters',
  'index.ts',
  'fast-check.ts',
  'vitest.ts',
  'cli',
  'fleet.ts',
  'cli.ts',
];

const DATA: readonly string[] = ['text', 'core/kernel', 'core/plan', 'core/history'];

/** Allowed imports, if stricter than all to the left. */
const ONLY: ReadonlyMap<string, readonly string[]> = new Map([
  ['linearizability', ['text', 'core/kernel', 'linearizability']],
  ['check.ts', ['text', 'core/kernel', 'linearizability']],
  ['systems', [...DATA, 'core/world', 'systems']],
  // Shows that the public entry for users is sufficient for such systems.
  ['zoo', ['servers.ts', 'zoo']],
  ['check', [...DATA, 'linearizability', 'check']],
  ['scenario', [...DATA, 'scenario']],
  ['core/shrink', [...DATA, 'core/shrink']],
]);

/** Root files that only layers to the right of `shrink` may import. */
const PAGES: ReadonlySet<string> = new Set(['run.ts', 'examine.ts', 'harness.ts']);

/**
 * Packages that the core may use: pure JavaScript, without Node modules. `node-sqlite3-wasm` reads
 * its WebAssembly file once, as it is loaded; an in-memory database needs nothing else.
 */
const PURE_PACKAGES: readonly string[] = [
  'yaml',
  'zod',
  'seedrandom',
  '@noble/hashes',
  'node-sqlite3-wasm',
];

/** An import of any form; `specifier` is null if it is computed. */
interface Import {
  readonly node: Node;
  readonly specifier: string | null;
}

/** Returns static, re-exporting, dynamic and type imports. */
export function importsOf(source: Source): readonly Import[] {
  return nodesOf(source.tree).flatMap((node): readonly Import[] => {
    const from = moduleOf(node);
    if (from === undefined) return [];
    return [{ node, specifier: stringOf(from) }];
  });
}

function moduleOf(node: Node): Node | undefined {
  if (isImportDeclaration(node) || isExportDeclaration(node)) return node.moduleSpecifier;
  if (isExternalModuleReference(node)) return node.expression;
  if (isImportTypeNode(node)) {
    return isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument;
  }
  const isDynamic = isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword;
  return isDynamic ? node.arguments[0] : undefined;
}

/** Returns the layer of `src`, the module of `core`, or the root file that contains a path. */
function layerOf(path: string): string {
  const [, layer = '', module = ''] = path.split('/');
  return layer === 'core' ? `core/${module}` : layer;
}

/** Returns true for files of the core: no Node module, no ambient time, chance or environment. */
export function isCore(path: string): boolean {
  if (!path.startsWith('src/') || isTest(path)) return false;
  const place = LAYERS.indexOf(layerOf(path));
  return place !== -1 && place <= LAYERS.indexOf('harness.ts');
}

/** Checks that a folder imports only from folders to its left. Tests may import anything. */
export const keepsLayers: Rule = (source) => {
  if (!source.path.startsWith('src/') || isTest(source.path)) return [];
  const layer = layerOf(source.path);
  if (!LAYERS.includes(layer)) {
    return [
      violation(source, 1, `${layer} has no place: add it to LAYERS in tools/tidy/layers.ts`),
    ];
  }
  return importsOf(source).flatMap(({ node, specifier }) => {
    if (specifier === null || !specifier.startsWith('.')) return [];
    const target = layerOf(resolve(source.path, specifier));
    const why = whyNot(layer, target);
    return why === null ? [] : [violation(source, node, `${layer} imports ${target}: ${why}`)];
  });
};

function whyNot(layer: string, target: string): string | null {
  if (target === layer) return null;
  const only = ONLY.get(layer);
  if (only !== undefined) {
    return only.includes(target)
      ? null
      : `it may import ${only.join(', ')}; hand the rest in as data`;
  }
  const place = LAYERS.indexOf(layer);
  if (PAGES.has(target) && place < LAYERS.indexOf('examine.ts')) {
    return `only examine.ts, harness.ts and layers right of shrink may; import the step that you need`;
  }
  const left = LAYERS.slice(0, place);
  return left.includes(target)
    ? null
    : `it may import ${left.join(', ')}; move what is shared to the left`;
}

/** Resolves `src/a/../plan/plan.ts` to `src/core/plan/plan.ts`. */
export function resolve(from: string, specifier: string): string {
  const steps = from.split('/').slice(0, -1);
  for (const step of specifier.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** If files share modules, a test file that was imported earlier registers no tests when run. */
export const importsNoTest: Rule = (source) =>
  importsOf(source).flatMap(({ node, specifier }) =>
    specifier?.startsWith('.') && specifier.endsWith('.test.ts')
      ? [violation(source, node, `${specifier} is a test: move what is shared to a *.fixture.ts`)]
      : [],
  );

/** The package is packed while other tests run, and would include a folder that a test creates. */
export const packsNoFolder: Rule = (source) =>
  nodesOf(source.tree).flatMap((node) => {
    const made = /^mkdtemp(?:Sync)?\(join\(root, '(dist|docs|fixtures)\b/.exec(
      isCallExpression(node) ? node.getText() : '',
    );
    if (made === null) return [];
    return [violation(source, node, `a folder in ${made[1]}, which is packed: take reports`)];
  });

/** Checks that the core imports only its own files and pure packages, by name. */
export const importsPureCode: Rule = (source) => {
  if (!isCore(source.path)) return [];
  return importsOf(source).flatMap(({ node, specifier }) => {
    if (specifier === null) {
      return [
        violation(source, node, 'a computed import: let the caller import it and hand it in'),
      ];
    }
    if (specifier.startsWith('.') || PURE_PACKAGES.some((name) => isOf(name, specifier))) return [];
    return [
      violation(source, node, `imports ${specifier}: let a command do it and hand in its result`),
    ];
  });
};

function isOf(name: string, specifier: string): boolean {
  return specifier === name || specifier.startsWith(`${name}/`);
}
