/**
 * The page of `fencepost playground`: an editor for a scenario, which shows errors as the user
 * types. A worker runs this same script. It examines the scenario on 200 seeds, or on every plan
 * with at most one or two faults. The first plan that breaks a claim is shrunk, explained and
 * drawn, with numbers that the user can change. Nothing is fetched. A scenario in the address is
 * filled in but never run automatically.
 */
import { builtIn } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examine } from '../../examine.ts';
import { shrinkFailure } from '../../harness.ts';
import { wordsOf } from '../../load.ts';
import { runWatched, whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import { readScenario, type ScenarioRead } from '../../scenario/read-scenario.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { explainRunNow } from '../../search/evidence/explain-run.ts';
import { countPlans, NumberedPlans } from '../../search/exhaust/exhaust.ts';
import { narrowed } from '../../search/exhaust/narrowed.ts';
import { modelOf } from '../../systems/assemble.ts';
import { type Child, element, render, sentenceMarkup } from '../../text/markup.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import { evidenceShown } from '../finding.ts';
import { renderPictures } from '../html/finding-pictures.ts';
import type { PageData } from '../html/page-data.ts';
import { list, nameMarkup, table, tableRow } from '../html/parts.ts';
import { renderTry } from '../html/playground-controls.ts';
import { storyList } from '../html/verdicts.ts';
import { linearizationOf } from '../pictures/linearization.ts';
import { listSteps } from '../steps.ts';
import { describePlainly } from '../story-steps.ts';
import { all, findElement } from './finding-view.ts';
import { openPlayground } from './playground.ts';

const SEEDS = 200;
/** Maximum length of a scenario in an address. */
const MOST_TEXT = 20_000;
/** Maximum number of plans to examine. No reader would wait for more. */
const MOST_PLANS = 20_000;
/** Number of progress reports from the worker. */
const NOTES = 20;

/** A request to examine all plans with at most `faults` faults; 0 means seeds. */
interface Task {
  readonly text: string;
  readonly faults: number;
}

interface Broken {
  readonly system: string;
  readonly claim: string;
  /** For example `seed 3` or `plan 16`. */
  readonly which: string;
  readonly plan: Plan;
}

interface Row {
  readonly system: string;
  readonly claim: string;
  readonly isToBreak: boolean;
  broken: number;
  /** The number of plans of the system that were examined. */
  examined: number;
}

type Note =
  | {
      readonly kind: 'done';
      readonly share: number;
      readonly noun: string;
      readonly rows: readonly Row[];
    }
  | { readonly kind: 'broken'; readonly broken: Broken }
  | { readonly kind: 'failed'; readonly why: string };

function read(text: string): ScenarioRead {
  return readScenario({ text, file: 'scenario', vocabulary: wordsOf(builtIn) });
}

/** Runs in the worker: examines each text that arrives, and reports the progress. */
function serve(): void {
  const note = (message: Note): void => self.postMessage(message);
  self.addEventListener('message', ({ data }: MessageEvent<Task>) => {
    examineText(data, note).catch((error: unknown) => {
      note({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
    });
  });
}

async function examineText({ text, faults }: Task, note: (message: Note) => void): Promise<void> {
  const result = read(text);
  if (result.kind !== 'scenario') return;
  const { scenario } = result;
  const noun = faults === 0 ? 'seed' : 'plan';
  const all = faults === 0 ? seedsOf(scenario) : await plansOf(scenario, faults);
  const rows = scenario.systems.flatMap(({ name, expect }) =>
    [...expect.breaks, ...expect.holds].map((claim): Row => {
      return {
        system: name,
        claim,
        isToBreak: expect.breaks.includes(claim),
        broken: 0,
        examined: 0,
      };
    }),
  );
  const last = Math.max(...all.map(({ plans }) => plans));
  const each = Math.ceil(last / NOTES);
  let isReported = false;
  for (let number = 0; number < last; number += 1) {
    for (const { system, plans, planOf } of all) {
      if (number >= plans) continue;
      const systemRows = rows.filter((row) => row.system === system);
      const claims = systemRows.map(({ claim }) => claim);
      const { plan, verdicts } = examine(planOf(number), claims);
      for (const [at, row] of systemRows.entries()) {
        row.examined += 1;
        if (verdicts[at]?.kind !== 'invalid') continue;
        row.broken += 1;
        if (isReported) continue;
        isReported = true;
        const { claim } = row;
        const label = `${noun} ${number}`;
        const shrunk = shrinkFailure(plan, claim).plan;
        note({ kind: 'broken', broken: { system, claim, which: label, plan: shrunk } });
      }
    }
    const done = number + 1;
    const isNoted = done % each === 0 || done === last;
    if (isNoted) note({ kind: 'done', share: done / last, noun, rows });
  }
}

interface SystemPlans {
  readonly system: string;
  readonly plans: number;
  readonly planOf: (number: number) => Plan;
}

function seedsOf(scenario: Scenario): readonly SystemPlans[] {
  return scenario.systems.map(({ name: system }) => {
    return { system, plans: SEEDS, planOf: (seed) => expand(scenario, system, seed) };
  });
}

/** Returns every plan of two clients with one section each and at most this many faults. */
async function plansOf(scenario: Scenario, faults: number): Promise<readonly SystemPlans[]> {
  const small = narrowed(scenario, { faults, ties: 0, clients: 2, sections: 1 });
  const all: SystemPlans[] = [];
  for (const { name: system } of small.systems) {
    const options = { catalogue: builtIn, watch: runWatched, most: MOST_PLANS };
    const { plans, blocks, stopped } = await countPlans(small, system, options);
    if (stopped !== null) {
      const many = `${system}: more than ${groupDigits(MOST_PLANS)} plans`;
      throw new Error(`${many}: use fewer faults, or \`fencepost run --exhaust ${faults}\``);
    }
    const numbered = new NumberedPlans(small, system, blocks);
    all.push({ system, plans, planOf: (number) => numbered.planOf(number) });
  }
  return all;
}

/** `code` is the text of this script, for the worker. */
function openEditor(code: string): void {
  const text = findElement(document, '#scenario', HTMLTextAreaElement);
  const runs = all(document, '[data-faults]', HTMLButtonElement);
  const gallery = findElement(document, '#gallery', HTMLSelectElement);
  const json = findElement(document, '#gallery-data', HTMLScriptElement).textContent ?? '[]';
  const entries: readonly (readonly [string, string, string])[] = JSON.parse(json);
  const known = new Map(entries.map(([name, ...entry]) => [name, entry]));
  const steps = entries.filter(([, , question]) => question !== '').length;
  const worker = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  let running: Worker | null = null;

  const typed = (): void => {
    const result = read(text.value);
    for (const button of runs) button.disabled = result.kind !== 'scenario';
    const wrong = result.kind === 'scenario' ? result.warnings : result.problems;
    const items = wrong.map(({ line, column, what }) => [`${line}:${column} `, what]);
    findElement(document, '#problems', HTMLElement).innerHTML = render(list('notes', items));
    const systems = result.kind === 'scenario' ? result.scenario.systems : [];
    const guess = findElement(document, '#guesses', HTMLElement);
    const names = systems.map(({ name }) => name);
    if (guess.dataset['of'] === JSON.stringify(names)) return;
    guess.dataset['of'] = JSON.stringify(names);
    guess.innerHTML = render(names.map(renderGuess));
  };
  const take = (name: string): void => {
    const [scenario = '', question = ''] = known.get(name) ?? [];
    text.value = scenario;
    const step = `Step ${[...known.keys()].indexOf(name) + 1} of ${steps}. `;
    findElement(document, '#question', HTMLElement).textContent = question && step + question;
    gallery.value = name;
    clear();
    typed();
  };
  const clear = (): void => {
    running?.terminate();
    running = null;
    findElement(document, 'progress', HTMLProgressElement).value = 0;
    for (const id of ['#outcome', '#found'])
      findElement(document, id, HTMLElement).replaceChildren();
  };
  for (const button of runs) {
    button.addEventListener('click', () => {
      clear();
      running = new Worker(worker);
      running.addEventListener('message', ({ data }: MessageEvent<Note>) => hear(data));
      const task: Task = { text: text.value, faults: Number(button.dataset['faults']) };
      running.postMessage(task);
    });
  }
  text.addEventListener('input', typed);
  gallery.addEventListener('change', () => take(gallery.value));
  findElement(document, '#next', HTMLButtonElement).addEventListener('click', () => {
    const names = [...known.keys()];
    take(names[(names.indexOf(gallery.value) + 1) % names.length] ?? '');
  });
  findElement(document, '#share', HTMLButtonElement).addEventListener('click', () => {
    location.hash = `s=${encodeURIComponent(text.value)}`;
    findElement(document, '#shared', HTMLElement).textContent =
      'The address now contains the scenario.';
  });
  const first = sharedText();
  if (first === null) take([...known.keys()][0] ?? '');
  else text.value = first;
  typed();
}

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
  const outcome = findElement(document, '#outcome', HTMLElement);
  if (note.kind === 'failed') {
    outcome.innerHTML = render(element('p', { class: 'bad' }, note.why));
    return;
  }
  if (note.kind === 'broken') {
    show(note.broken);
    return;
  }
  findElement(document, 'progress', HTMLProgressElement).value = note.share;
  const rows = note.rows.map(({ system, claim, isToBreak, broken, examined }) => {
    const sign = broken === 0 ? '✓ holds' : `✗ breaks${isToBreak ? ' (expected)' : ''}`;
    const tone = broken === 0 ? 'good' : isToBreak ? 'open' : 'bad';
    const count = `${groupDigits(broken)} of ${countOf(examined, note.noun)}`;
    return tableRow(
      [claim, ' of ', nameMarkup(system)],
      element('td', { class: tone }, sign),
      element('td', {}, count),
    );
  });
  const guesses = note.share === 1 ? renderGuesses(note.rows) : [];
  outcome.innerHTML = render([guesses, table({ head: [], rows })]);
}

function renderGuesses(rows: readonly Row[]): Child {
  return all(document, '[data-guess]', HTMLSelectElement).map((guess) => {
    if (guess.selectedIndex <= 0) return [];
    const system = guess.dataset['guess'] ?? '';
    const breaks = rows.some((row) => row.system === system && row.broken > 0);
    const isRight = breaks === (guess.selectedIndex === 1);
    const opening = isRight ? '✓ You were right: ' : '✗ You were wrong: ';
    const ending = breaks ? ' broke a claim.' : ' kept its claims.';
    return element('p', { class: isRight ? 'good' : 'bad' }, opening, nameMarkup(system), ending);
  });
}

function show({ system, claim, which, plan }: Broken): void {
  const found = findElement(document, '#found', HTMLElement);
  const { trace, verdicts } = examine(plan, [claim]);
  const [verdict] = verdicts;
  if (verdict?.kind !== 'invalid' || whyRefused(plan) !== null) return;
  const { explanation, causation } = explainRunNow({ plan, trace, verdict });
  const evidence = evidenceShown({ verdict, causation, trace });
  const data: PageData = {
    claim,
    plan,
    trace,
    evidence,
    prefix: '',
    mostRows: 400,
    isFenced: false,
    linearization: linearizationOf(trace, { claim, model: modelOf(plan, builtIn) }),
    title: explanation.headline,
  };
  const steps = listSteps(trace, { evidence });
  const sentences = describePlainly(trace, verdict.evidence).map(({ text }) =>
    sentenceMarkup(text),
  );
  const where = [claim, ' of ', nameMarkup(system), `, ${which}, shrunk`];
  found.innerHTML = render(
    element(
      'article',
      { id: 'found-1' },
      element('h2', {}, sentenceMarkup(explanation.headline)),
      element('p', { class: 'faint' }, where),
      renderPictures(data, 'found-1', false, steps),
      list('plainly', sentences, 'ol'),
      storyList(explanation),
      renderTry('found-1', { plan, trace }, builtIn),
    ),
  );
  openPlayground(findElement(found, 'article', HTMLElement), data);
}

const script = typeof document === 'undefined' ? null : document.currentScript;
if (typeof document === 'undefined') serve();
else openEditor(script?.textContent ?? '');
