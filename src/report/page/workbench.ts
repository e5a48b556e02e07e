/**
 * The playground of `fencepost playground`: a scenario as text, whose mistakes are shown as one
 * types, examined on 200 seeds by a worker, which runs this same script. The first seed that breaks
 * a claim is shrunk, told and drawn, with numbers to turn. Nothing is fetched; the text of a link
 * is filled in and never run by itself.
 */
import { builtIn } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examine } from '../../examine.ts';
import { examineSeed, shrinkFailure } from '../../harness.ts';
import { wordsOf } from '../../load.ts';
import { whyRefused } from '../../run.ts';
import { readScenario, type ScenarioRead } from '../../scenario/read-scenario.ts';
import { explainRunNow } from '../../search/evidence/explain-run.ts';
import { modelOf } from '../../systems/assemble.ts';
import { type Child, element, render, sentenceMarkup } from '../../text/markup.ts';
import { evidenceShown } from '../finding.ts';
import { type PageData, renderPictures } from '../html/finding-pictures.ts';
import { list, nameMarkup, table, tableRow } from '../html/parts.ts';
import { renderTry } from '../html/playground.ts';
import { storyList } from '../html/verdicts.ts';
import { linearizationOf } from '../pictures/linearization.ts';
import { tellPlainly } from '../plain-words.ts';
import { listSteps } from '../steps.ts';
import { openPlayground } from './playground.ts';
import { all, one } from './stage.ts';

const SEEDS = 200;
/** Longer texts are no scenario that somebody wrote here. */
const MOST_TEXT = 20_000;
/** Before the next seeds the page hears how far it is. */
const SEEDS_PER_NOTE = 10;

interface Broken {
  readonly system: string;
  readonly claim: string;
  readonly seed: number;
  readonly plan: Plan;
}

interface Row {
  readonly system: string;
  readonly claim: string;
  readonly isToBreak: boolean;
  readonly broken: number;
}

type Note =
  | { readonly kind: 'done'; readonly share: number; readonly rows: readonly Row[] }
  | { readonly kind: 'broken'; readonly broken: Broken }
  | { readonly kind: 'failed'; readonly why: string };

function read(text: string): ScenarioRead {
  return readScenario({ text, file: 'scenario', vocabulary: wordsOf(builtIn) });
}

/** In the worker: examines the text that comes in, and tells as it goes. */
function serve(): void {
  const note = (one: Note): void => self.postMessage(one);
  self.addEventListener('message', ({ data }: MessageEvent<string>) => {
    try {
      examineText(data, note);
    } catch (error) {
      note({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
    }
  });
}

function examineText(text: string, note: (one: Note) => void): void {
  const result = read(text);
  if (result.kind !== 'scenario') return;
  const { scenario } = result;
  const rows = scenario.systems.flatMap(({ name, expect }) =>
    [...expect.breaks, ...expect.holds].map((claim) => {
      return { system: name, claim, isToBreak: expect.breaks.includes(claim), broken: 0 };
    }),
  );
  let isTold = false;
  for (let seed = 0; seed < SEEDS; seed += 1) {
    for (const { name } of scenario.systems) {
      const own = rows.filter(({ system }) => system === name);
      const claims = own.map(({ claim }) => claim);
      const { plan, verdicts } = examineSeed(scenario, name, seed, claims);
      for (const [at, row] of own.entries()) {
        if (verdicts[at]?.kind !== 'invalid') continue;
        row.broken += 1;
        if (isTold) continue;
        isTold = true;
        const { claim } = row;
        note({ kind: 'broken', broken: { system: name, claim, seed, plan: shrunk(plan, claim) } });
      }
    }
    const isNoted = (seed + 1) % SEEDS_PER_NOTE === 0;
    if (isNoted) note({ kind: 'done', share: (seed + 1) / SEEDS, rows });
  }
}

function shrunk(plan: Plan, claim: string): Plan {
  return shrinkFailure(plan, claim).plan;
}

/** In the page. `code` is this very script. */
function openWorkbench(code: string): void {
  const text = one(document, '#scenario', HTMLTextAreaElement);
  const go = one(document, '#go', HTMLButtonElement);
  const gallery = one(document, '#gallery', HTMLSelectElement);
  const given = one(document, '#gallery-data', HTMLScriptElement).textContent ?? '[]';
  const texts: readonly (readonly [string, string])[] = JSON.parse(given);
  const known = new Map(texts);
  const worker = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  let running: Worker | null = null;

  const typed = (): void => {
    const result = read(text.value);
    go.disabled = result.kind !== 'scenario';
    const wrong = result.kind === 'scenario' ? result.warnings : result.problems;
    const items = wrong.map(({ line, column, what }) => [`${line}:${column} `, what]);
    one(document, '#problems', HTMLElement).innerHTML = render(list('notes', items));
    const systems = result.kind === 'scenario' ? result.scenario.systems : [];
    const guess = one(document, '#guesses', HTMLElement);
    const names = systems.map(({ name }) => name);
    if (guess.dataset['of'] === JSON.stringify(names)) return;
    guess.dataset['of'] = JSON.stringify(names);
    guess.innerHTML = render(names.map(renderGuess));
  };
  const take = (name: string): void => {
    text.value = known.get(name) ?? '';
    gallery.value = name;
    clear();
    typed();
  };
  const clear = (): void => {
    running?.terminate();
    running = null;
    one(document, 'progress', HTMLProgressElement).value = 0;
    for (const id of ['#outcome', '#found']) one(document, id, HTMLElement).replaceChildren();
  };
  go.addEventListener('click', () => {
    clear();
    running = new Worker(worker);
    running.addEventListener('message', ({ data }: MessageEvent<Note>) => hear(data));
    running.postMessage(text.value);
  });
  text.addEventListener('input', typed);
  gallery.addEventListener('change', () => take(gallery.value));
  one(document, '#next', HTMLButtonElement).addEventListener('click', () => {
    const names = [...known.keys()];
    take(names[(names.indexOf(gallery.value) + 1) % names.length] ?? '');
  });
  one(document, '#share', HTMLButtonElement).addEventListener('click', () => {
    location.hash = `s=${encodeURIComponent(text.value)}`;
    one(document, '#shared', HTMLElement).textContent = 'The address has the scenario now.';
  });
  const first = sharedText();
  if (first === null) take([...known.keys()][0] ?? '');
  else text.value = first;
  typed();
}

/** The scenario of the address; null where it has none. */
function sharedText(): string | null {
  const { hash } = location;
  if (!hash.startsWith('#s=') || hash.length > 3 * MOST_TEXT) return null;
  try {
    return decodeURIComponent(hash.slice(3)).slice(0, MOST_TEXT);
  } catch {
    return null;
  }
}

function renderGuess(system: string): Child {
  const options = ['?', 'something breaks', 'all holds'].map((text) => element('option', {}, text));
  const select = element('select', { 'data-guess': system }, options);
  return element('label', {}, nameMarkup(system), ': ', select, ' ');
}

function hear(note: Note): void {
  const outcome = one(document, '#outcome', HTMLElement);
  if (note.kind === 'failed') {
    outcome.innerHTML = render(element('p', { class: 'bad' }, note.why));
    return;
  }
  if (note.kind === 'broken') {
    show(note.broken);
    return;
  }
  one(document, 'progress', HTMLProgressElement).value = note.share;
  const seeds = String(Math.round(note.share * SEEDS));
  const rows = note.rows.map(({ system, claim, isToBreak, broken }) => {
    const sign = broken === 0 ? '✓ holds' : `✗ breaks${isToBreak ? ' (expected)' : ''}`;
    const tone = broken === 0 ? 'good' : isToBreak ? 'open' : 'bad';
    const count = `${broken} of ${seeds} seeds`;
    return tableRow(
      [claim, ' of ', nameMarkup(system)],
      element('td', { class: tone }, sign),
      element('td', {}, count),
    );
  });
  const guesses = note.share === 1 ? renderGuesses(note.rows) : [];
  outcome.innerHTML = render([guesses, table({ head: [], rows })]);
}

/** How each guess went. */
function renderGuesses(rows: readonly Row[]): Child {
  return all(document, '[data-guess]', HTMLSelectElement).map((guess) => {
    if (guess.selectedIndex <= 0) return [];
    const system = guess.dataset['guess'] ?? '';
    const breaks = rows.some((row) => row.system === system && row.broken > 0);
    const isRight = breaks === (guess.selectedIndex === 1);
    const said = isRight ? '✓ You were right: ' : '✗ It went otherwise: ';
    const what = breaks ? ' broke a claim.' : ' kept its claims.';
    return element('p', { class: isRight ? 'good' : 'bad' }, said, nameMarkup(system), what);
  });
}

/** Tells and draws a shrunk plan, with its numbers to turn. */
function show({ system, claim, seed, plan }: Broken): void {
  const found = one(document, '#found', HTMLElement);
  const { trace, verdicts } = examine(plan, [claim]);
  const [verdict] = verdicts;
  if (verdict?.kind !== 'invalid' || whyRefused(plan) !== null) return;
  const { explanation, causation } = explainRunNow({ plan, trace, verdict });
  const evidence = evidenceShown({ verdict, causation, trace });
  const data: PageData = {
    ...{ claim, plan, trace, evidence, prefix: '', mostRows: 400, isFenced: false },
    linearization: linearizationOf(trace, { claim, model: modelOf(plan) }),
    title: explanation.headline,
  };
  const steps = listSteps(trace, { evidence, faults: plan.faults });
  const told = tellPlainly(trace, verdict.evidence).map(({ text }) => sentenceMarkup(text));
  const where = [claim, ' of ', nameMarkup(system), `, seed ${seed}, shrunk`];
  found.innerHTML = render(
    element(
      'article',
      { id: 'found-1' },
      element('h2', {}, sentenceMarkup(explanation.headline)),
      element('p', { class: 'faint' }, where),
      renderPictures(data, 'found-1', false, steps),
      list('plainly', told, 'ol'),
      storyList(explanation),
      renderTry('found-1', { plan, trace }, builtIn),
    ),
  );
  openPlayground(one(found, 'article', HTMLElement), data);
}

const script = typeof document === 'undefined' ? null : document.currentScript;
if (typeof document === 'undefined') serve();
else openWorkbench(script?.textContent ?? '');
