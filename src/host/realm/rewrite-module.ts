/**
 * Rewrites an ES module as a generator function that can be called once per realm, because `import`
 * and `export` need a loader. Every statement keeps its line and column, so that stacks show the
 * user's own positions.
 *
 *     import { a } from './b.js';       ;
 *     export const c = a();                    const c = a();
 *     export default c + 1;             $fp_ =         c + 1;
 *
 * A new line 0 declares the imported names as variables, with a getter per export and a setter per
 * import:
 *
 *     let a,$fp_;$fp.open({c:()=>c,default:()=>$fp_},[v=>{a=v}]);yield;
 *
 * If the module later adds methods to a class, the class is passed to `reserveSlots`
 * (`instances.ts`) after its declaration: `};$fproom(Commander);`.
 *
 * An imported name is as fast to read as any variable. Hoisted functions can be imported in a cycle
 * before their module has run. If an exported variable changes later, its importers are notified:
 * `c = 2,$fp.notify("c")`. In an import cycle, they are also notified when the variable is
 * declared. Only these notifications move other code, on the same line.
 *
 * `vm.SourceTextModule` needs a flag of Node and compiles each instance again: two modules took
 * 1,830 µs instead of 25 µs (Node 20.20).
 */
import {
  type AnonymousFunctionDeclaration,
  type AnyNode,
  type ExportDefaultDeclaration,
  type ExportNamedDeclaration,
  type ForInStatement,
  type ForOfStatement,
  type ImportDeclaration,
  Parser,
  type Program,
} from 'acorn';
import type { SourcePlace } from '../async/source-places.ts';
import { changesOf, childrenOf, filledClassesIn, filledNamesIn, namesIn } from './module-scopes.ts';

/** A name that a module imports. `request` is an index in `requests`. */
export interface Import {
  readonly request: number;
  /** The name in the requested module; `*` means the complete module, as an object. */
  readonly name: string;
  readonly place: SourcePlace;
}

/** A name that is exported from another module. */
export interface Reexport extends Import {
  /** Null means all names of that module, unchanged. */
  readonly as: string | null;
}

export interface RewrittenModule {
  /** A function expression that begins on line 0. The module's own text begins on line 1. */
  readonly text: string;
  /** The requested modules, in order and without duplicates. */
  readonly requests: readonly string[];
  /** Imported names, in the order of the setters passed to `open`. */
  readonly imports: readonly Import[];
  readonly reexports: readonly Reexport[];
  /** True if the module uses top-level `await`. */
  readonly isAsync: boolean;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Throws a `SyntaxError` whose stack begins with the place in `url`. A module in an import cycle
 * also notifies importers when an exported variable is declared.
 */
export function rewriteModule(source: string, url: string, isOnCircle = false): RewrittenModule {
  const tree = parse(source, url, 'module');
  const tools = toolNameFor(source);
  const rewriting = new Rewriting(source, tools, isOnCircle);
  for (const statement of tree.body) rewriting.takeStatement(statement);
  rewriting.refuseChangesOfImports(tree, url);
  rewriting.takeInside(tree);
  return rewriting.finished();
}

/**
 * Rewrites a CommonJS module. `import(…)` becomes the realm's `$fpimp(…)`, and `$fproom` is called
 * with each class to which the module adds methods. Both names begin with `tools`.
 */
export function rewriteScript(source: string, url: string, tools = '$fp'): string {
  const mayImport = /\bimport\b/.test(source);
  const mayFill = /\bclass\b/.test(source) && filledNamesIn(source).size > 0;
  if (!mayImport && !mayFill) return source;
  try {
    const rewriting = new Rewriting(source, tools, false);
    rewriting.takeInside(parse(source, url, 'commonjs'));
    return rewriting.edited();
  } catch (error) {
    if (mayImport) throw error;
    return source; // V8 reports the error
  }
}

const SHARED = { ecmaVersion: 'latest', allowHashBang: true, locations: true } as const;

const OPTIONS = {
  module: { ...SHARED, sourceType: 'module' },
  commonjs: { ...SHARED, sourceType: 'commonjs' },
} as const;

function parse(source: string, url: string, kind: keyof typeof OPTIONS): Program {
  try {
    return Parser.parse(source, OPTIONS[kind]);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // acorn's messages end with the place, such as `(3:7)`. Its columns begin with 0.
    const [, message = error.message, line = '1', column = '0'] =
      /^(.*) \((\d+):(\d+)\)$/s.exec(error.message) ?? [];
    throw syntaxErrorAt(message, url, { line: Number(line), column: Number(column) + 1 });
  }
}

export function syntaxErrorAt(
  message: string,
  url: string,
  { line, column }: SourcePlace,
): SyntaxError {
  const error = new SyntaxError(message);
  error.stack = `SyntaxError: ${message}\n    at ${url}:${line}:${column}`;
  return error;
}

/** Returns a three-character prefix for the realm's names that does not occur in the text. */
export function toolNameFor(source: string): string {
  for (const name of ['$fp', '$fq', '$fr', '$fs', '$ft', '$fu', '$fv']) {
    if (!source.includes(name)) return name;
  }
  throw new SyntaxError('a module that contains all of $fp, $fq, … $fv cannot be loaded');
}

const GAP = String.raw`(?:\s|/\*[^]*?\*/|//.*$)*`;
const EXPORT_DEFAULT = new RegExp(`^export${GAP}default`, 'm');
/** Matches a default-exported function up to its parameter list. */
const FUNCTION_HEAD = new RegExp(
  `^export${GAP}default${GAP}(?:async${GAP})?function${GAP}[*]?${GAP}`,
  'm',
);

class Rewriting {
  private readonly source: string;
  private readonly tools: string;
  private readonly isOnCircle: boolean;
  private readonly edits: Edit[] = [];
  private readonly requests: string[] = [];
  private readonly imports: Import[] = [];
  private readonly reexports: Reexport[] = [];
  /** Variables of imports, in the order of the setters. */
  private readonly locals: string[] = [];
  private readonly exported: Map<string, string[]> = new Map();
  private readonly declarations: AnyNode[] = [];
  private isAsync = false;
  /** True if the default export is a function declaration. */
  private isExportHoisted = false;

  constructor(source: string, tools: string, isOnCircle: boolean) {
    this.source = source;
    this.tools = tools;
    this.isOnCircle = isOnCircle;
  }

  takeStatement(statement: Program['body'][number]): void {
    switch (statement.type) {
      case 'ImportDeclaration':
        this.takeImport(statement);
        break;
      case 'ExportNamedDeclaration':
        this.takeExport(statement);
        break;
      case 'ExportDefaultDeclaration':
        this.takeDefault(statement);
        break;
      case 'ExportAllDeclaration': {
        const as =
          statement.exported === null || statement.exported === undefined
            ? null
            : statement.exported;
        const request = this.requestOf(statement.source.value);
        this.reexports.push({
          request,
          name: '*',
          as: as === null ? null : nameOf(as),
          place: placeOf(statement),
        });
        this.blank(statement.start, statement.end);
        break;
      }
      default:
        this.declarations.push(statement);
    }
  }

  private requestOf(value: unknown): number {
    const specifier = String(value);
    const known = this.requests.indexOf(specifier);
    return known === -1 ? this.requests.push(specifier) - 1 : known;
  }

  private takeImport(statement: ImportDeclaration): void {
    const request = this.requestOf(statement.source.value);
    for (const specifier of statement.specifiers) {
      const name =
        specifier.type === 'ImportSpecifier'
          ? nameOf(specifier.imported)
          : specifier.type === 'ImportDefaultSpecifier'
            ? 'default'
            : '*';
      this.imports.push({ request, name, place: placeOf(specifier) });
      this.locals.push(specifier.local.name);
    }
    this.blank(statement.start, statement.end);
  }

  private takeExport(statement: ExportNamedDeclaration): void {
    const { declaration, source } = statement;
    if (declaration !== null && declaration !== undefined) {
      for (const name of declaredIn(declaration)) this.export(name, name);
      this.replace(
        statement.start,
        declaration.start,
        spaces(this.source.slice(statement.start, declaration.start)),
      );
      this.declarations.push(declaration);
      return;
    }
    const request = source === null || source === undefined ? null : this.requestOf(source.value);
    for (const specifier of statement.specifiers) {
      const [name, as] = [nameOf(specifier.local), nameOf(specifier.exported)];
      if (request === null) this.export(name, as);
      else this.reexports.push({ request, name, as, place: placeOf(specifier) });
    }
    this.blank(statement.start, statement.end);
  }

  private takeDefault(statement: ExportDefaultDeclaration): void {
    const { declaration, start } = statement;
    const { source, tools } = this;
    const isFunction = declaration.type === 'FunctionDeclaration';
    const isClass = declaration.type === 'ClassDeclaration';
    if ((isFunction || isClass) && declaration.id !== null) {
      this.export(declaration.id.name, 'default');
      this.replace(start, declaration.start, spaces(source.slice(start, declaration.start)));
      this.declarations.push(declaration);
      return;
    }
    this.export(`${tools}_`, 'default');
    if (isFunction) {
      this.nameFunction(statement, declaration);
      return;
    }
    if (isClass) {
      this.nameClass(statement, declaration);
      return;
    }
    // The node of a parenthesized expression begins inside the parentheses.
    const [keywords = ''] = EXPORT_DEFAULT.exec(source.slice(start)) ?? [];
    // `$fp_ =` is as long as `export`, so the expression keeps its column, even in parentheses.
    this.replace(start, start + keywords.length, `${tools}_ =${spaces(keywords.slice(6))}`);
    if (this.isOnCircle) this.insert(statement.end, `;${tools}.notify("default");`);
    else this.end(statement);
  }

  /** Makes a class the value of a property `default`, which names it before static members run. */
  private nameClass({ start: from }: AnyNode, { start, end }: AnyNode): void {
    const { source, tools } = this;
    const notification = this.isOnCircle ? `${tools}.notify("default");` : '';
    const [head, property] = [spaces(source.slice(from + 6, start)), '{default:'];
    const fits = head.endsWith(' '.repeat(property.length));
    const before = fits ? head.slice(0, -property.length) : head;
    this.replace(from, start, `${tools}_ =${before}${property}`);
    this.insert(end, `}.default;${notification}`);
  }

  /** Names an anonymous default function, so that the function stays hoisted. */
  private nameFunction(
    { start }: AnyNode,
    { async, generator, body, params }: AnonymousFunctionDeclaration,
  ): void {
    const first = params[0]?.start ?? body.start;
    const from = this.source.slice(start, first);
    const [head = ''] = FUNCTION_HEAD.exec(from) ?? [];
    const named = `${async ? 'async ' : ''}function${generator ? '*' : ''} ${this.tools}_`;
    const line = head.search(/[\n\r\u2028\u2029]/);
    this.replace(
      start,
      start + head.length,
      named + spaces(head.slice(line === -1 ? named.length : line)),
    );
    this.isExportHoisted = true;
  }

  /** Ends a statement with a semicolon, which replaces a blank, if any, to keep the columns. */
  private end({ end }: AnyNode): void {
    if (this.source[end - 1] === ';') return;
    if (this.source[end] === ' ') this.replace(end, end + 1, ';');
    else this.insert(end, ';');
  }

  private export(local: string, as: string): void {
    this.exported.set(local, [...(this.exported.get(local) ?? []), as]);
  }

  /** Throws for assignments to imports, as Node does. Otherwise they would take effect. */
  refuseChangesOfImports(tree: Program, url: string): void {
    for (const { name, node } of changesOf(tree, new Set(this.locals))) {
      const message = `${name} is an import, which cannot be assigned to`;
      throw syntaxErrorAt(message, url, placeOf(node));
    }
  }

  /** Rewrites `import.meta`, `import(…)`, and changes of variables. */
  takeInside(tree: Program): void {
    const { source, tools } = this;
    for (const { name, end } of filledClassesIn(source, tree, filledNamesIn(source))) {
      this.insert(end, `;${tools}room(${name});`);
    }
    this.reexportImports();
    for (const declaration of this.declarations) {
      if (!this.isOnCircle || declaration.type === 'FunctionDeclaration') continue;
      const names = declaredIn(declaration).flatMap((name) => this.exported.get(name) ?? []);
      if (names.length > 0) this.insert(declaration.end, `;${this.notification(names)};`);
    }
    this.takeExpressions(tree, 0);
    const locals = new Set([...this.exported.keys()].filter((name) => !name.startsWith(tools)));
    for (const { name, node, isStatement } of changesOf(tree, locals)) {
      const notification = this.notification(this.exported.get(name) ?? []);
      const isLoop = node.type === 'ForInStatement' || node.type === 'ForOfStatement';
      if (isLoop) this.insertInLoop(node, notification);
      else if (isStatement) this.insert(node.end, `,${notification}`);
      else this.wrap(node, notification);
    }
  }

  /** Turns imports that are exported again into reexports, so that their values stay current. */
  private reexportImports(): void {
    this.locals.forEach((local, at) => {
      const wanted = this.imports[at];
      if (wanted === undefined) return;
      for (const as of this.exported.get(local) ?? []) this.reexports.push({ ...wanted, as });
      this.exported.delete(local);
    });
  }

  /** Inserts code that runs after an expression and does not change its value. */
  private wrap(node: AnyNode, after: string): void {
    const isJoined = /[\w$]/.test(this.source[node.start - 1] ?? '');
    this.insert(node.start, `${isJoined ? ' ' : ''}${this.tools}.first(`);
    this.insert(node.end, `,${after})`);
  }

  private insertInLoop({ body }: ForInStatement | ForOfStatement, code: string): void {
    if (body.type === 'BlockStatement') {
      this.insert(body.start + 1, `${code};`);
      return;
    }
    const at = body.start - 1;
    this.replace(at, body.start, `${this.source[at]}{${code};`);
    this.insert(body.end, '}');
  }

  private notification(names: readonly string[]): string {
    return names.map((name) => `${this.tools}.notify(${JSON.stringify(name)})`).join(',');
  }

  private takeExpressions(node: AnyNode, depth: number): void {
    const { tools } = this;
    if (node.type === 'ImportExpression') this.replace(node.start, node.start + 6, `${tools}imp`);
    else if (node.type === 'MetaProperty' && node.meta.name === 'import') {
      const meta = `${tools}.meta`;
      this.replace(node.start, node.end, meta.padEnd(node.end - node.start));
    } else if (depth === 0 && isAwait(node)) this.isAsync = true;
    const isApart = /Function|PropertyDefinition|StaticBlock/.test(node.type);
    for (const child of childrenOf(node)) {
      // A computed field name is evaluated with the class, but the field's value is not.
      const isKey = node.type === 'PropertyDefinition' && child === node.key;
      this.takeExpressions(child, isApart && !isKey ? depth + 1 : depth);
    }
  }

  private replace(start: number, end: number, text: string): void {
    this.edits.push({ start, end, text });
  }

  private insert(at: number, text: string): void {
    this.edits.push({ start: at, end: at, text });
  }

  /** Replaces a range with blanks, and its first character with a semicolon. */
  private blank(start: number, end: number): void {
    this.replace(start, end, `;${spaces(this.source.slice(start + 1, end))}`);
  }

  edited(): string {
    const { source } = this;
    let text = '';
    let at = 0;
    // If several insertions share a position, the one for the innermost expression comes first.
    const edits = [...this.edits].reverse();
    for (const edit of edits.sort((a, b) => a.start - b.start || a.end - b.end)) {
      text += source.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return (text + source.slice(at)).replace(/^#!/, '//');
  }

  finished(): RewrittenModule {
    const { tools, requests, imports, reexports, isAsync } = this;
    const star = isAsync ? 'async function*' : 'function*';
    const argument = `${tools}_`;
    const named = `${tools}.name(${argument})`;
    const getters = [...this.exported].flatMap(([local, names]) =>
      names.map((name) => `${JSON.stringify(name)}:()=>${local === argument ? named : local}`),
    );
    const setters = this.locals.map((local) => `v=>{${local}=v}`);
    const open = `${tools}.open({__proto__:null,${getters.join(',')}},[${setters.join(',')}])`;
    const variables = this.isExportHoisted ? this.locals : [...this.locals, argument];
    const declared = variables.length === 0 ? '' : `let ${variables.join(',')};`;
    const head = `(${star}(${tools},${tools}imp,${tools}room){"use strict";${declared}${open};yield;`;
    return { text: `${head}\n${this.edited()}\n})`, requests, imports, reexports, isAsync };
  }
}

function isAwait(node: AnyNode): boolean {
  if (node.type === 'VariableDeclaration') return node.kind === 'await using';
  return node.type === 'ForOfStatement' ? node.await : node.type === 'AwaitExpression';
}

function placeOf({ loc }: AnyNode): SourcePlace {
  return { line: loc?.start.line ?? 1, column: (loc?.start.column ?? 0) + 1 };
}

function nameOf(node: AnyNode): string {
  return node.type === 'Literal' ? String(node.value) : node.type === 'Identifier' ? node.name : '';
}

/** Returns blanks of the same length, with the same line breaks. */
function spaces(text: string): string {
  return text.replace(/[^\n\r\u2028\u2029]/g, ' ');
}

function declaredIn(node: AnyNode): readonly string[] {
  if (node.type === 'VariableDeclaration')
    return node.declarations.flatMap(({ id }) => namesIn(id));
  const isNamed = node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration';
  return isNamed && node.id !== null ? [node.id.name] : [];
}
