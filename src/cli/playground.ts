/**
 * `fencepost playground` writes an HTML file for writing a scenario, examining it and viewing its
 * failures. This file contains the gallery and the layout; `../report/page/editor.ts` contains
 * the behavior.
 */
import type { Command } from 'commander';
import { parseDocument } from 'yaml';
import { builtIn } from '../catalogue.ts';
import { wordsOf } from '../load.ts';
import {
  type PageScript,
  readEditorScript,
  renderDocument,
  TOOL_STYLES,
} from '../report/html/document.ts';
import { faint } from '../report/html/parts.ts';
import { readScenario } from '../scenario/read-scenario.ts';
import { exits } from '../search/campaign/exit-codes.ts';
import { type Attributes, element, type Markup, trusted } from '../text/markup.ts';
import { type Done, withExample } from './command.ts';
import { UserError } from './exit.ts';
import { readText, writeText } from './files.ts';
import { fileMeant, shippedScenarios } from './shipped.ts';

/** The tour, in teaching order, with a question to answer at each step. */
const LESSON: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'check-then-act',
    [
      'A client asks whether its lease still holds, is paused, and then writes. Is asking first',
      'enough?',
    ],
  ],
  [
    'six-steps',
    [
      'A has token 1 and stalls. Its lease ends; B gets token 2 and writes 200. Then A wakes up',
      'and writes 101. What does a store that compares tokens do? And one that does not?',
    ],
  ],
  [
    'write-data',
    [
      'Two processes read a file, change it and write it back. The first collects its garbage',
      'in between, for longer than its lease. Whose change is left in the file?',
    ],
  ],
  [
    'zombie-writer',
    [
      'Now pauses and late or lost messages occur at random. Does the store that',
      'compares tokens still hold on every seed?',
    ],
  ],
  [
    'lost-update',
    [
      'The holder has read a counter and is paused; its successor has read it, too, and written',
      'nothing yet. The first one’s token is still the highest of any write. Does a fence save',
      'the update? And a fence that also counts reads?',
    ],
  ],
  [
    'who-compares',
    [
      'One store compares tokens but never raises its highest; another leaves comparing to its',
      'clients. Is either of them a fence?',
    ],
  ],
  [
    'token-regression',
    [
      'The lock service crashes and counts from 1 again. Which clients does a fenced store refuse now?',
    ],
  ],
  [
    'optimistic',
    [
      'No client takes a lock: a write names the version that it was computed from. Is an update',
      'lost? And if the store ignores the version?',
    ],
  ],
  [
    'opposite-order',
    [
      'Alice takes lock a and then b, bob takes b and then a, and neither gives up waiting.',
      'No fault is injected: do all clients finish?',
    ],
  ],
  [
    'redlock',
    [
      'A majority of three nodes grants the lock, and there is no token. Can two hold it at',
      'once? Can one that is late still write?',
    ],
  ],
  [
    'worker-leases',
    [
      'Leases in DynamoDB, Redis and Memcached, with requests that are retried and repeated.',
      'Does each lease have a token of its own, and can another client release it?',
    ],
  ],
  [
    'stampede',
    [
      'Five clients miss a value in the cache at once. Who keeps them from computing it five',
      'times?',
    ],
  ],
]);

export function addPlayground(command: Command, done: Done): void {
  withExample(command, 'playground --output playground.html')
    .option('--output <file>', 'file to write', 'playground.html')
    .action(({ output }: { readonly output: string }) => {
      const script = readEditorScript();
      if (script === null) throw new UserError(['playground: this copy is not built']);
      // The page can run only built-in locks and stores, and has no SQL engine.
      const names = shippedScenarios().map(({ name }) => name);
      const others = names.filter((name) => !LESSON.has(name));
      const gallery = {
        tour: [...LESSON.keys()].flatMap(entriesOf),
        others: others.flatMap(entriesOf),
      };
      writeText(output, renderEditor(gallery, script));
      process.stdout.write(`${output}: open it in a browser\n`);
      done(exits.met);
    });
}

function entriesOf(name: string): readonly GalleryEntry[] {
  const file = fileMeant(name);
  const text = readText(file);
  const read = readScenario({ text, file, vocabulary: wordsOf(builtIn) });
  if (read.kind !== 'scenario' || read.scenario.use !== undefined) return [];
  const { systems } = read.scenario;
  const left = systems.filter(({ store }) => builtIn.stores.get(store)?.needsSql === true);
  if (left.length === systems.length) return [];
  const runnable = without(
    text,
    left.map((system) => system.name),
  );
  return [[name, runnable, (LESSON.get(name) ?? []).join(' ')]];
}

function without(text: string, systems: readonly string[]): string {
  if (systems.length === 0) return text;
  const document = parseDocument(text);
  for (const system of systems) document.deleteIn(['systems', system]);
  const comment = `# Left out here, as there is no SQL engine in this page: ${systems.join(', ')}.`;
  return `${comment}\n${document.toString({ lineWidth: 100 })}`;
}

/** A scenario in the gallery. `question` is empty outside the tour. */
type GalleryEntry = readonly [name: string, text: string, question: string];

interface Gallery {
  /** The scenarios of the tour, in teaching order. */
  readonly tour: readonly GalleryEntry[];
  readonly others: readonly GalleryEntry[];
}

const STYLES = `${TOOL_STYLES}
.bench{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:20px}
@media (max-width:900px){.bench{grid-template-columns:minmax(0,1fr)}}
textarea{width:100%;height:34em;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:8px;padding:10px;resize:vertical}
@media (max-width:700px){textarea{height:16em}}
progress{width:100%;accent-color:var(--client0)}
#guesses label{display:inline-block;margin:0 12px 6px 0}
`;

function renderEditor(gallery: Gallery, script: PageScript): string {
  const data = JSON.stringify([...gallery.tour, ...gallery.others]).replace(/</g, '\\u003c');
  const held = element('script', { type: 'application/json', id: 'gallery-data' }, trusted(data));
  return renderDocument({
    title: 'Playground',
    style: STYLES,
    skip: 'Skip to the scenario',
    script,
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
      element('label', {}, 'Example: ', element('select', { id: 'gallery' }, options)),
      ' ',
      button('next', 'Next →'),
      ' ',
      button('share', 'Copy to URL'),
      ' ',
      element('span', { id: 'shared', role: 'status', class: 'faint' }),
    ),
    element('textarea', {
      id: 'scenario',
      'aria-labelledby': 'scenario-title',
      spellcheck: 'false',
      'aria-describedby': 'problems',
      autocomplete: 'off',
    }),
    element('div', { id: 'problems', class: 'bad', role: 'status' }),
  );
}

function renderRight(): Markup {
  return element(
    'section',
    { class: 'card', 'aria-labelledby': 'run-title' },
    element('h2', { id: 'run-title' }, 'What happens next?'),
    element('p', { id: 'question' }),
    faint('Guess first: will a claim break on any of 200 seeds, or will all hold?'),
    element('div', { id: 'guesses' }),
    element(
      'p',
      {},
      button('go', 'Run 200 seeds', { 'data-faults': 0 }),
      ' or try ',
      button('one-fault', 'every plan with one fault', { 'data-faults': 1 }),
      ' ',
      button('two-faults', 'with two', { 'data-faults': 2 }),
    ),
    faint('Every plan: two clients, one section each, and the fault at every possible place.'),
    element('progress', { max: 1, value: 0, 'aria-label': 'Examined so far' }),
    element('div', { id: 'outcome', role: 'status' }),
  );
}

function button(id: string, text: string, more: Attributes = {}): Markup {
  return element('button', { type: 'button', id, ...more }, text);
}
