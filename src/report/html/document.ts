/**
 * Renders what all HTML pages share: a self-contained document, its style sheet and its script.
 * `parts.ts` renders the elements of the content.
 *
 * The page runs the simulator, which commands import from files of `dist`. These files and the code
 * of the page are linked into one script without imports. The script is compressed;
 * `../page/loader.ts` decompresses it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type Child, element, type Markup, render, trusted } from '../../text/markup.ts';
import { paletteStyle } from '../pictures/shapes.ts';

export interface PageScript {
  /** Decompresses `code` and runs it. */
  readonly loader: string;
  readonly code: string;
}

/**
 * Content that requires the script, by the id of its element. Compression with the script reduces
 * pictures to a tenth of their size.
 */
export type PackedParts = ReadonlyMap<string, Markup>;

export interface DocumentParts {
  readonly title: string;
  /** Styles of this page, in addition to the styles that all pages share. */
  readonly style: string;
  /** The text of the link that skips the header. */
  readonly skip: string;
  readonly header: Child;
  readonly main: Child;
  readonly footer: string;
  /**
   * If null, the page has no script, and its policy forbids scripts. If absent, the page has no
   * policy.
   */
  readonly script?: PageScript | null;
  readonly packed?: PackedParts;
  /** True if the script may start workers that run its own code. */
  readonly workers?: boolean;
}

export function renderDocument(parts: DocumentParts): string {
  const style = `${paletteStyle()}\n${STYLES}${parts.style}`;
  const { script = null, packed = new Map() } = parts;
  const viewport = { name: 'viewport', content: 'width=device-width, initial-scale=1' };
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    parts.script === undefined ? [] : renderPolicy(style, script, parts.workers === true),
    element('meta', viewport),
    element('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, `${parts.title} · fencepost`),
    element('style', {}, trusted(style)),
  );
  const body = element(
    'body',
    {},
    element('a', { class: 'skip', href: '#content' }, parts.skip),
    element('header', {}, parts.header),
    element('main', { id: 'content' }, parts.main),
    element('footer', {}, `Made by fencepost. ${parts.footer}`),
    script === null ? [] : renderScript(script, packed),
  );
  return `<!doctype html>\n${render(element('html', { lang: 'en' }, head, body))}\n`;
}

/**
 * Renders the content security policy: no fetches, and only the style sheet and the scripts with
 * these digests. The element must precede everything that it applies to.
 */
function renderPolicy(style: string, script: PageScript | null, hasWorkers: boolean): Markup {
  const scripts = script === null ? [] : [script.loader, script.code];
  const content = [
    "default-src 'none'",
    `style-src ${digestOf(style)}`,
    `script-src ${scripts.length === 0 ? "'none'" : scripts.map(digestOf).join(' ')}`,
    ...(hasWorkers ? ["connect-src 'none'", 'worker-src blob:'] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return element('meta', { 'http-equiv': 'Content-Security-Policy', content });
}

function renderScript({ loader, code }: PageScript, packed: PackedParts): Child {
  const parts = [...packed].map(([id, part]) => [id, part.markup]);
  const bytes = utf8ToBytes(`${code}${JSON.stringify(parts)}`);
  const sizes = { 'data-size': bytes.length, 'data-code': code.length };
  const data = deflateRawSync(bytes, { level: 9 }).toString('base64');
  return [
    element('script', { type: 'text/plain', ...sizes }, trusted(data)),
    element('script', {}, trusted(loader)),
  ];
}

function digestOf(text: string): string {
  return `'sha256-${btoa(String.fromCharCode(...sha256(utf8ToBytes(text))))}'`;
}

/** Files that a page includes only if its plans use one of these locks. */
const SPARED: readonly (readonly [file: string, locks: readonly string[]])[] = [
  [
    'locks-on-caches',
    [
      'cache-lock',
      ...['lease-dynamodb', 'lease-memcached', 'lease-redis'].flatMap((lease) => [
        lease,
        `${lease}-published`,
      ]),
    ],
  ],
  ['locks-on-redis', ['redis', 'redlock']],
  ['locks-on-services', ['etcd', 'kubernetes', 'postgres', 'zookeeper']],
];

/** The folder of all built files. `import.meta.url` is the unbundled location of this file. */
const HERE = new URL('../../', import.meta.url);
const EDITOR = new URL('../page/editor.js', import.meta.url);
const BOOT = new URL('../page/boot.js', import.meta.url);
const LOADER = new URL('../page/loader.js', import.meta.url);

const made = new Map<string, PageScript | null>();

/** Returns the built script for these locks, or null in an unbuilt source tree. */
export function readPageScript(locks: readonly string[]): PageScript | null {
  const files = filesWith(locks);
  const key = files.join();
  const known = made.get(key);
  const script = known === undefined ? scriptOf(files, HERE) : known;
  made.set(key, script);
  return script;
}

/** Returns the script from a folder of built files. */
export function scriptIn(dist: URL, locks: readonly string[]): PageScript | null {
  return scriptOf(filesWith(locks), dist);
}

/** Returns the script of the playground, with all locks and the scenario parser. */
export function readEditorScript(): PageScript | null {
  const locks = SPARED.map(([file]) => file);
  const shared = ['checker', 'core', ...locks, 'flow', 'page', 'zod', 'reader'];
  const names = shared.map((name) => `shared/${name}.js`);
  const scripts = [EDITOR, LOADER].map(({ href }) => href.slice(HERE.href.length));
  return scriptOf([...names, ...scripts], HERE, [['yaml', yamlModule()]]);
}

/** Returns the CommonJS package `yaml` as one module. */
function yamlModule(): string {
  const { resolve } = createRequire(import.meta.url);
  const home = new URL('./', pathToFileURL(resolve('yaml')));
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
  const scripts = files.filter((file) => file.endsWith('.js') && !file.includes('test'));
  const wrapped = scripts.map((file) => {
    const path = file.split(sep).join('/');
    const text = readFileSync(new URL(path, home), 'utf8').replace(COMMENTS, '');
    return `${JSON.stringify(path)}:function(module,exports,require){${text}\n}`;
  });
  return `const files={${wrapped.join(',\n')}};\n${LOAD_COMMON}return load("index.js");\n`;
}

/** Matches comments that share no line with code. */
const COMMENTS = /^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*)\n/gm;

/** A loader for CommonJS modules. It replaces the modules of Node.js with stubs. */
const LOAD_COMMON = `const loaded={};
const load=(path)=>{if(loaded[path])return loaded[path].exports;
const module=loaded[path]={exports:{}};
const require=(name)=>{if(!name.startsWith("."))return{env:{},emitWarning(){}};
const parts=path.split("/").slice(0,-1);
for(const part of name.split("/"))if(part==="..")parts.pop();else if(part!==".")parts.push(part);
return load(parts.join("/"))};
files[path](module,module.exports,require);return module.exports};
`;

/** Returns the files of the page's script, each after its imports. */
function filesWith(locks: readonly string[]): readonly string[] {
  const spared = SPARED.filter(([, theirs]) => theirs.some((lock) => locks.includes(lock)));
  const shared = ['checker', 'core', ...spared.map(([file]) => file), 'flow', 'page'];
  const scripts = [BOOT, LOADER].map(({ href }) => href.slice(HERE.href.length));
  return [...shared.map((name) => `shared/${name}.js`), ...scripts];
}

function scriptOf(
  files: readonly string[],
  dist: URL,
  packages: readonly (readonly [string, string])[] = [],
): PageScript | null {
  const urls = files.map((file) => new URL(file, dist));
  if (!urls.every((url) => existsSync(url))) return null;
  const texts = urls.map((url) => readFileSync(url, 'utf8'));
  const modules = files.slice(0, -1).map((file, at) => [file, texts[at] ?? ''] as const);
  return { code: linkModules([...packages, ...modules]), loader: texts.at(-1)?.trim() ?? '' };
}

const IMPORT = /^import\s*(?:(\w+)\s*,?\s*)?(?:\{([^}]*)\}\s*)?(?:from\s*)?"([^"]+)";$/gm;
/** Matches an export list at the end of a module. */
const EXPORT = /(?<=^|[;}\n])export\{([^}]*)\};?\s*$/;

/**
 * Links modules into one script. Each module must follow its imports. Imports from modules that are
 * not in the list become undefined. This is safe: a lock that is not included is reported as
 * unknown, and only commands call functions of packages.
 */
export function linkModules(modules: readonly (readonly [string, string])[]): string {
  const known = new Map(modules.map(([file], at) => [basename(file), `m${at}`]));
  const linked = modules.map(([, text], at) => {
    const inner = text
      .replace(
        IMPORT,
        (_, statement: string | undefined, some: string | undefined, from: string) => {
          const module = known.get(basename(from));
          const pairs = pairsOf(some);
          if (module !== undefined) return `let{${pairs.map((pair) => pair.join(':'))}}=${module};`;
          const names = [statement ?? [], pairs.map(([, local]) => local)].flat();
          return names.length === 0 ? '' : `let ${names.join()};`;
        },
      )
      .replace(EXPORT, (_, some: string) => {
        return `return{${pairsOf(some).map(([local, name]) => `${name}:${local}`)}};`;
      });
    return `let m${at}=(()=>{${inner}\n})();`;
  });
  return `(()=>{"use strict";${linked.join('\n')}})();`;
}

/** Parses `a as b,c` into the pairs `[a, b]` and `[c, c]`. */
function pairsOf(text: string | undefined): readonly (readonly [string, string])[] {
  const parts = (text ?? '').split(',').filter((part) => part.trim() !== '');
  return parts.map((part) => {
    const [before = '', after = before] = part.trim().split(/\s+as\s+/);
    return [before, after];
  });
}

const STYLES = `
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;overflow-wrap:anywhere}
main,header,footer{max-width:1320px;margin:0 auto;padding:0 24px}
header{padding-top:28px}
h1,h2,h3{line-height:1.25;margin:0;text-wrap:balance;overflow-wrap:anywhere}
h1{font-size:17px;font-weight:600}
h2{font-size:27px;letter-spacing:-.01em}
h3{font-size:17px;margin-bottom:10px}
a{color:var(--client0)}
:focus-visible{outline:3px solid var(--client0);outline-offset:2px}
.skip{position:absolute;left:-9999px}.skip:focus{left:8px;top:8px;background:var(--paper);padding:6px 10px}
.faint{color:var(--soft)}
.badge{display:inline-block;padding:1px 9px;border:1px solid currentColor;border-radius:99px;font-size:13px;font-weight:600;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--danger)}.open{color:var(--caution)}
nav ul{list-style:none;margin:8px 0 0;padding:0;display:flex;flex-wrap:wrap;gap:4px 20px}
article,section.card{background:var(--paper);border:1px solid var(--line);border-radius:12px;padding:26px 28px;margin:20px 0}
article>section,article>figure,article>details,article>details>section,article>details>details{margin:22px 0 0}
.story{margin:16px 0 0;padding:0;max-width:76ch;font-size:17px}
.story div{display:grid;grid-template-columns:6.2em 1fr;gap:0 10px;margin:6px 0}
.story dt{font-weight:600;color:var(--soft)}
.story dd{margin:0;overflow-wrap:anywhere}
.story .however dt{color:var(--danger)}
.facts{display:flex;flex-wrap:wrap;gap:4px 22px;margin:14px 0 0;padding:0;list-style:none;font-size:14px;color:var(--soft)}
.facts b{color:var(--ink);font-weight:600;overflow-wrap:anywhere}
figure{margin:0}figure+figure{margin-top:26px}
figcaption{font-size:14px;color:var(--soft);margin:0 0 10px;max-width:86ch}
figcaption b{color:var(--ink)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--paper)}
svg{display:block}
svg.sequence{margin:0 auto;max-width:100%;height:auto;min-width:820px}
svg.scale{width:100%;height:auto;min-width:760px}svg.lanes{display:none}
@media (max-width:830px){.scroll:has(.lanes){display:grid}.scroll>svg{grid-area:1/1}svg.lanes{display:block;position:sticky;left:0;width:100px;height:auto;box-shadow:1px 0 var(--line)}}
.key{display:flex;flex-wrap:wrap;gap:6px 22px;list-style:none;margin:12px 0 0;padding:0;font-size:14px;color:var(--soft)}
.key li{display:flex;align-items:center;gap:8px}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;color:var(--soft);padding:0 0 8px;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{color:var(--soft);font-weight:600;border-bottom-width:2px;overflow-wrap:normal}
tbody th{font-weight:600}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.part td,tr.part th{background:var(--tint)}
tr:target td,tr:target th{outline:2px solid var(--client0);outline-offset:-2px}
summary{cursor:pointer;font-weight:600;padding:4px 0}
pre{margin:8px 0 0;padding:12px 14px;background:var(--page);border:1px solid var(--line);border-radius:8px;overflow-x:auto;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.commands{display:grid;grid-template-columns:max-content 1fr;gap:4px 14px;margin:0;align-items:baseline}
.copy{margin-left:8px;padding:1px 8px}.commands dt{color:var(--soft);font-size:14px}.commands dd{margin:0;min-width:0}
code{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.notes{margin:8px 0 0;padding-left:20px;font-size:14px;color:var(--soft)}
.system{margin-top:24px}
footer{padding:4px 24px 40px;font-size:14px;color:var(--soft)}
@media (max-width:640px){article,section.card{padding:18px 16px}.story div{grid-template-columns:1fr}h2{font-size:22px}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
@media print{body{background:none}article,section.card{border:0;padding:0}.scroll{overflow:visible;border:0}svg.sequence{max-width:100%;height:auto}nav,.skip{display:none}tr,.key,.story{break-inside:avoid}}
`;

/** Styles for interactive controls, and for content beside a finding. */
export const TOOL_STYLES: string = `
[hidden]{display:none!important}
html{scroll-padding-top:72px}[data-pictures]{scroll-margin-top:-60px}
p,dt,figcaption,caption{overflow-wrap:anywhere}
header{display:grid;grid-template-columns:1fr auto;gap:6px 16px;align-items:start}
header nav{grid-column:1/-1}
h1{overflow-wrap:anywhere;min-width:0}
button{font:inherit;font-size:14px;color:var(--ink);background:var(--page);border:1px solid var(--soft);border-radius:8px;padding:5px 11px;cursor:pointer}
button:hover{border-color:var(--client0);color:var(--client0)}
button:disabled{color:var(--soft);cursor:default;border-style:dashed}
input,select{font:inherit;font-size:14px;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:6px;padding:3px 6px;max-width:100%;accent-color:var(--client0)}
input[type=number]{width:7.5em}
.story{font-size:15px}
.systems{margin:0 0 16px;padding:0;list-style:none}.systems>li{margin:6px 0;overflow-wrap:anywhere}
.stepper{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;background:var(--paper);border:1px solid var(--line);border-radius:8px;padding:8px 12px;margin:14px 0}
.stepper p{margin:0;flex:1 1 20em;min-width:0;font-size:14px;overflow-wrap:anywhere}
.buttons{display:flex;flex-wrap:wrap;gap:6px}
.switches,.filter{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:center;margin:0 0 12px;font-size:14px}
fieldset{display:flex;flex-wrap:wrap;gap:4px 14px;border:0;margin:0;padding:0;min-width:0}
fieldset legend{float:left;padding:0 12px 0 0;color:var(--soft)}
fieldset label{overflow-wrap:anywhere;min-width:0}
.filter label{max-width:100%;min-width:0}.filter p{margin:0;color:var(--soft)}
.table{overflow-x:auto}.table+.table{margin-top:18px}
button[aria-pressed=true]::before{content:'✓ '}
tr.now td,tr.now th{background:var(--cursor)}tr.now a{color:var(--ink)}
tr.now th::before{content:'▸ '}
.states{margin:26px 0}
.states p{margin:0 0 10px}
.state{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr));gap:10px;list-style:none;margin:0;padding:0;font-size:14px}
.state li{border:1px solid var(--line);border-radius:8px;padding:8px 12px;min-width:0;overflow-wrap:anywhere}
.state dl{margin:4px 0 0;display:grid;grid-template-columns:minmax(0,7.6em) minmax(0,1fr);gap:2px 10px}
.state dt{color:var(--soft)}.state dd{margin:0}
.changed bdi{font-weight:600}.mark{color:var(--caution);font-weight:600;white-space:nowrap}
.beside p{max-width:86ch;margin:8px 0}
.beside figure{margin-top:14px}
.knobs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));gap:12px 24px;align-items:start;font-size:14px;margin-bottom:12px}
.knob{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:center;min-width:0;overflow-wrap:anywhere}
.knob input[type=range]{flex:1 1 100%;padding:0}
.knob input[aria-invalid=true]{border-color:var(--danger);outline:1px solid var(--danger)}.knob .bad{flex:1 1 100%}.stale{filter:grayscale(1);opacity:.55}
.knobs button{justify-self:start;align-self:end}
.plainly{margin:14px 0 0;padding-left:22px;max-width:80ch;font-size:17px}.plainly li{overflow-wrap:anywhere}.plainly li::marker{color:var(--soft);font-size:13px}.plainly .now{background:var(--cursor)}.lesson{margin:10px 0 0}
.matrix td,.matrix th{padding:6px 14px 6px 0}
.matrix .rate{display:block;color:var(--soft);font-size:13px}
@media (max-width:640px){main,header,footer{padding-left:12px;padding-right:12px}article,section.card{padding:16px 12px}.commands{grid-template-columns:1fr}.commands dd{margin-bottom:6px}th,td{padding-right:8px}.stepper button{padding:5px 8px}dl.commands code{overflow-wrap:anywhere}}
@media print{svg.lanes,.lesson,.copy,.stepper,.switches,.filter,[data-try],[data-no-try],[data-theme-switch]{display:none!important}article,section.card{break-before:auto}figure,.state li{break-inside:avoid}details:not([open])>*{display:none}svg.scale,svg.sequence{min-width:0;max-width:100%}}
`;
