/**
 * Lists code that runs so often that its way to copy objects matters. On Node 20 `{ ...o, a }` and
 * `const { a, ...rest } = o` each cost about 2 µs, a literal 12 ns. A run of a plan has some
 * hundred events; each spread per event reduced the seeds per second by one percent.
 */
import {
  isArrowFunction,
  isBindingElement,
  isFunctionDeclaration,
  isMethodDeclaration,
  isObjectBindingPattern,
  isPropertyAssignment,
  isSpreadAssignment,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTest, nodesOf, type Rule, violation } from './source.ts';

/** Code that runs per event, per section or per breach of a run. */
const HOT: readonly string[] = [
  'src/core/kernel/',
  'src/core/history/',
  'src/core/world/',
  'src/systems/',
  'src/zoo/',
  'src/host/redis/',
  'src/check/trace-index',
  'src/check/evidence',
  'src/check/terms',
  'src/check/holder-overlap',
  'src/search/sweep/fault-positions',
  'src/search/sweep/stakes',
];

/** Functions there that run at most once per plan; a spread is clearer in them. */
const ONCE_PER_PLAN: ReadonlyMap<string, readonly string[]> = new Map([
  ['src/core/world/pinning.ts', ['pinned']],
  ['src/systems/assemble.ts', ['assemble']],
  ['src/zoo/cache-lock/cache-lock.ts', ['constructor']],
  ['src/zoo/cache-lock/protocol.ts', ['build']],
  ['src/systems/define-lock.ts', ['protocolOf']],
  ['src/systems/lock-service/lock-service.ts', ['constructor']],
  ['src/systems/store/store.ts', ['like']],
  ['src/systems/store/store-kinds.ts', ['fenceKind', 'storeKindOf']],
  ['src/zoo/worker-lease/protocol.ts', ['published']],
]);

/** Reports spreads in hot code, which creates its objects by literals. */
export const copiesByLiterals: Rule = (source) => {
  if (isTest(source.path) || !HOT.some((place) => source.path.startsWith(place))) return [];
  const allowed = ONCE_PER_PLAN.get(source.path) ?? [];
  return nodesOf(source.tree).flatMap((node) => {
    const construct = whatSpreads(node);
    if (construct === null) return [];
    const names = functionsAround(node);
    if (names.length === 0 || names.some((name) => allowed.includes(name))) return [];
    const instead = 'write each field, and assign one that may be absent to a `Draft`';
    return [violation(source, node, `${construct} where each event passes: ${instead}`)];
  });
};

function whatSpreads(node: Node): string | null {
  if (isSpreadAssignment(node)) return 'an object spread';
  const isRest =
    isBindingElement(node) &&
    node.dotDotDotToken !== undefined &&
    isObjectBindingPattern(node.parent);
  return isRest ? 'an object rest' : null;
}

function nameOf({ name }: { readonly name?: Node | undefined }): string {
  return name?.getText() ?? '';
}

/** Returns the names of the functions around a node, '' for unnamed; empty at module level. */
function functionsAround(node: Node): readonly string[] {
  const names: string[] = [];
  for (let at: Node | undefined = node.parent; at !== undefined; at = at.parent) {
    if (at.kind === SyntaxKind.Constructor) names.push('constructor');
    else if (isFunctionDeclaration(at) || isMethodDeclaration(at)) names.push(nameOf(at));
    else if (isArrowFunction(at)) {
      const { parent } = at;
      const isNamed = isVariableDeclaration(parent) || isPropertyAssignment(parent);
      names.push(isNamed ? nameOf(parent) : '');
    }
  }
  return names;
}
