/**
 * `fencepost playground`: writes one HTML file in which one writes a scenario, examines it and sees
 * what breaks. Here are its gallery and its parts; what it does, `../report/page/workbench.ts` has.
 */
import type { Command } from 'commander';
import { builtIn } from '../catalogue.ts';
import { wordsOf } from '../load.ts';
import {
  type PageScript,
  readWorkbenchScript,
  renderDocument,
  TOOL_SHEET,
} from '../report/html/document.ts';
import { faint } from '../report/html/parts.ts';
import { readScenario } from '../scenario/read-scenario.ts';
import { element, type Markup, trusted } from '../text/markup.ts';
import { type Done, withExample } from './command.ts';
import { exits, UserError } from './exit.ts';
import { readText, writeText } from './files.ts';
import { fileMeant, shippedScenarios } from './shipped.ts';

/**
 * In the order of a lesson: no lock, a lease and a pause, the fence, a lost update, fenced reads,
 * tokens that begin again, the other documents' optimistic and pessimistic locks, Redlock, leases
 * of workers, a stampede.
 */
const LESSON = [
  ...['check-then-act', 'six-steps', 'zombie-writer', 'lost-update', 'who-compares'],
  ...['token-regression', 'optimistic', 'write-data', 'redlock', 'worker-leases', 'stampede'],
];

export function addPlayground(command: Command, done: Done): void {
  withExample(command, 'playground --output playground.html')
    .option('--output <file>', 'the file that is written', 'playground.html')
    .action(({ output }: { readonly output: string }) => {
      const script = readWorkbenchScript();
      if (script === null) throw new UserError(['playground: this copy is not built']);
      writeText(output, renderWorkbench(galleryOf(), script));
      process.stdout.write(`${output}: open it in a browser\n`);
      done(exits.met);
    });
}

/** The scenarios that a page can run: all words are fencepost's own, and no engine is loaded. */
function galleryOf(): Gallery {
  const names = shippedScenarios().map(({ name }) => name);
  const others = names.filter((name) => !LESSON.includes(name));
  return { tour: LESSON.flatMap(entriesOf), others: others.flatMap(entriesOf) };
}

function entriesOf(name: string): readonly GalleryEntry[] {
  const file = fileMeant(name);
  const text = readText(file);
  const read = readScenario({ text, file, vocabulary: wordsOf(builtIn) });
  if (read.kind !== 'scenario' || read.scenario.use !== undefined) return [];
  const isRunnable = read.scenario.systems.every(
    ({ store }) => builtIn.stores.get(store)?.needsSql !== true,
  );
  return isRunnable ? [[name, text]] : [];
}

/** A scenario that is offered: its name, and its text. */
type GalleryEntry = readonly [name: string, text: string];

interface Gallery {
  /** In the order of a lesson. */
  readonly tour: readonly GalleryEntry[];
  readonly others: readonly GalleryEntry[];
}

const SHEET = `${TOOL_SHEET}
.bench{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:20px}
@media (max-width:900px){.bench{grid-template-columns:minmax(0,1fr)}}
textarea{width:100%;height:34em;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:8px;padding:10px;resize:vertical}
progress{width:100%;accent-color:var(--client0)}
#guesses label{display:inline-block;margin:0 12px 6px 0}
`;

/** The page as one HTML document. */
function renderWorkbench(gallery: Gallery, script: PageScript): string {
  const data = JSON.stringify([...gallery.tour, ...gallery.others]).replace(/</g, '\\u003c');
  const held = element('script', { type: 'application/json', id: 'gallery-data' }, trusted(data));
  return renderDocument({
    ...{ title: 'Playground', style: SHEET, skip: 'Skip to the scenario', script },
    workers: true,
    packed: new Map([['held', held]]),
    header: element('h1', {}, 'fencepost playground'),
    main: [element('div', { class: 'bench' }, renderLeft(gallery), renderRight()), FOUND],
    footer: 'Everything runs in this file. The same scenario and seed give the same run.',
  });
}

const FOUND = [
  element('div', { id: 'found', 'aria-live': 'polite' }),
  element('div', { id: 'held' }),
];

function renderLeft({ tour, others }: Gallery): Markup {
  const options = Object.entries({ 'A tour, in this order': tour, 'All others': others }).map(
    ([label, entries]) =>
      element(
        'optgroup',
        { label },
        entries.map(([name]) => element('option', {}, name)),
      ),
  );
  return element(
    'section',
    { class: 'card', 'aria-labelledby': 'scenario-title' },
    element('h2', { id: 'scenario-title' }, 'Scenario'),
    element(
      'p',
      {},
      element('label', {}, 'One to begin with: ', element('select', { id: 'gallery' }, options)),
      ' ',
      button('next', 'Next →'),
      ' ',
      button('share', 'Into the address'),
      ' ',
      element('span', { id: 'shared', role: 'status', class: 'faint' }),
    ),
    element('textarea', {
      ...{ id: 'scenario', 'aria-labelledby': 'scenario-title', spellcheck: 'false' },
      ...{ 'aria-describedby': 'problems', autocomplete: 'off' },
    }),
    element('div', { id: 'problems', class: 'bad', role: 'status' }),
  );
}

function renderRight(): Markup {
  return element(
    'section',
    { class: 'card', 'aria-labelledby': 'run-title' },
    element('h2', { id: 'run-title' }, 'What happens next?'),
    faint('Guess first: will a claim break on any of 200 seeds, or will all hold?'),
    element('div', { id: 'guesses' }),
    element('p', {}, button('go', 'Run 200 seeds')),
    element('progress', { max: 1, value: 0, 'aria-label': 'Seeds examined' }),
    element('div', { id: 'outcome', role: 'status' }),
  );
}

function button(id: string, text: string): Markup {
  return element('button', { type: 'button', id }, text);
}
