/**
 * Lets a reader change the numbers of a plan, and runs, judges and draws the changed plan. Offers
 * the controls only if the unchanged plan reproduces the page's trace in this browser.
 *
 * Changed values are stored in the address, `#try=…`, as a JSON object from field names to values.
 * An address is untrusted: only existing fields and valid values are accepted, and nothing runs
 * before the reader confirms.
 */

import { builtIn } from '../../catalogue.ts';
import { isJudgedUnlisted } from '../../check/claims.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examine } from '../../examine.ts';
import { run, whyRefused } from '../../run.ts';
import { explainRunNow } from '../../search/evidence/explain-run.ts';
import { modelOf } from '../../systems/assemble.ts';
import { element, type Markup, render } from '../../text/markup.ts';
import { evidenceShown } from '../finding.ts';
import { drawPictures, type PageData } from '../html/page-data.ts';
import { details, figure } from '../html/parts.ts';
import { knobsOf, renderNoTry, type Turned, turn } from '../html/playground.ts';
import { renderOutcome } from '../html/verdicts.ts';
import { linearizationOf } from '../pictures/linearization.ts';
import { countEvents, listSteps } from '../steps.ts';
import { all, findElement } from './finding-view.ts';

const MOST_DRAWN = 400;

/** Activates the controls, if the finding has any. */
export function openPlayground(article: HTMLElement, data: PageData): void {
  const section = article.querySelector('[data-try]');
  if (!(section instanceof HTMLElement)) return;
  const { plan, trace } = data;
  const isSameHere =
    whyRefused(plan) === null && JSON.stringify(run(plan).events) === JSON.stringify(trace.events);
  if (!isSameHere) {
    section.outerHTML = render(renderNoTry('some of its parts are not built in'));
    return;
  }
  section.hidden = false;
  const show = (): void => {
    const knobs = all(section, '[data-knob]', HTMLInputElement);
    // Check every knob, so that each invalid field shows its error.
    const isGood = knobs.filter((knob) => !complain(section, knob)).length === knobs.length;
    findElement(section, '[data-stale]', HTMLElement).hidden = isGood;
    findElement(section, '[data-outcome]', HTMLElement).classList.toggle('stale', !isGood);
    findElement(section, '[data-drawn]', HTMLElement).classList.toggle('stale', !isGood);
    if (isGood) showRun(section, data);
  };
  const turned = (): void => {
    show();
    const text = addressOf(section);
    history.replaceState(null, '', text === '' ? '#' : `#${data.prefix}try=${text}`);
  };
  for (const input of all(section, '[data-knob]', HTMLInputElement)) {
    const slide = section.querySelector(`[data-slide=${CSS.escape(input.dataset['knob'] ?? '')}]`);
    if (!(slide instanceof HTMLInputElement)) continue;
    slide.addEventListener('input', () => {
      input.value = String(Math.round(slide.valueAsNumber * 10) / 10);
      turned();
    });
    input.addEventListener('input', () => {
      if (whyWrong(input) === null) slide.value = input.value;
      turned();
    });
  }
  for (const choice of all(section, '[data-choice]', HTMLSelectElement)) {
    choice.addEventListener('input', turned);
  }
  findElement(section, '[data-reset]', HTMLButtonElement).addEventListener('click', () => {
    reset(section);
    turned();
  });
  show();
  offerAddress(section, data.prefix, show);
}

/** Maximum length of an address to read. A page never writes a longer one. */
const MOST_ADDRESS = 4000;

/** Returns the fields that were changed, as text for an address, or '' if none was changed. */
function addressOf(section: HTMLElement): string {
  const changed = [...fieldsOf(section)].filter(([, field]) => field.value !== initialOf(field));
  if (changed.length === 0) return '';
  const values = changed.map(([name, { value }]) => [name, value]);
  return encodeURIComponent(JSON.stringify(Object.fromEntries(values)));
}

type Field = HTMLInputElement | HTMLSelectElement;

function fieldsOf(section: HTMLElement): ReadonlyMap<string, Field> {
  const knobs = all(section, '[data-knob]', HTMLInputElement);
  const choices = all(section, '[data-choice]', HTMLSelectElement);
  return new Map<string, Field>([
    ...knobs.map((knob): [string, Field] => [knob.dataset['knob'] ?? '', knob]),
    ...choices.map((choice): [string, Field] => [choice.dataset['choice'] ?? '', choice]),
  ]);
}

function initialOf(field: Field): string {
  if (field instanceof HTMLInputElement) return field.defaultValue;
  return [...field.options].find(({ defaultSelected }) => defaultSelected)?.value ?? '';
}

/** Fills in the values from the address, and runs the plan with them if the reader confirms. */
function offerAddress(section: HTMLElement, prefix: string, show: () => void): void {
  const begin = `#${prefix}try=`;
  if (!location.hash.startsWith(begin) || location.hash.length > MOST_ADDRESS) return;
  const values = readAddress(location.hash.slice(begin.length));
  const fields = fieldsOf(section);
  let isAny = false;
  for (const [name, value] of values) {
    const field = fields.get(name);
    if (field === undefined || !takes(field, value)) continue;
    field.value = value;
    isAny = true;
  }
  if (!isAny) return;
  const offer = document.createElement('p');
  offer.className = 'open';
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset['runAddress'] = '';
  button.textContent = 'Run them';
  offer.append(
    'The address sets other numbers. The result below is still that of the finding. ',
    button,
  );
  findElement(section, '.knobs', HTMLElement).after(offer);
  const accept = (): void => {
    offer.remove();
    show();
  };
  button.addEventListener('click', accept);
  section.addEventListener('input', () => offer.remove(), { once: true });
  section.scrollIntoView({ block: 'start', behavior: 'instant' });
}

function readAddress(text: string): readonly (readonly [string, string])[] {
  try {
    const read: unknown = JSON.parse(decodeURIComponent(text));
    if (typeof read !== 'object' || read === null) return [];
    return Object.entries(read).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
  } catch {
    return [];
  }
}

/** Returns true if a reader could have entered the value. */
function takes(field: Field, value: string): boolean {
  if (field instanceof HTMLSelectElement) {
    return [...field.options].some((option) => option.value === value);
  }
  return /^\d{1,12}(?:\.\d{1,3})?$/.test(value);
}

/** Shows or clears the error of a field. Returns true if there is an error. */
function complain(section: HTMLElement, knob: HTMLInputElement): boolean {
  const why = whyWrong(knob);
  const at = findElement(section, `#${knob.getAttribute('aria-describedby')}`, HTMLElement);
  at.hidden = why === null;
  if (at.textContent !== (why ?? '')) at.textContent = why ?? '';
  if (why === null) knob.removeAttribute('aria-invalid');
  else knob.setAttribute('aria-invalid', 'true');
  return why !== null;
}

function whyWrong({ validity, value, valueAsNumber }: HTMLInputElement): string | null {
  if (validity.badInput) return 'Not a number.';
  if (value === '') return 'Enter a number of ms.';
  if (valueAsNumber < 0) return 'It must be 0 ms or more.';
  const most = Math.floor(Number.MAX_SAFE_INTEGER / 1_000_000);
  return valueAsNumber > most ? 'Too large.' : null;
}

function reset(section: HTMLElement): void {
  for (const input of all(section, 'input', HTMLInputElement)) input.value = input.defaultValue;
  for (const choice of all(section, '[data-choice]', HTMLSelectElement)) {
    const chosen = [...choice.options].findIndex(({ defaultSelected }) => defaultSelected);
    choice.selectedIndex = Math.max(0, chosen);
  }
}

function turnedIn(section: HTMLElement, plan: Plan): Turned {
  const durations = new Map<string, number>();
  let lateUs = 0;
  const known = new Map(knobsOf(plan).map(({ id, valueUs }) => [id, valueUs]));
  for (const { dataset, valueAsNumber } of all(section, '[data-knob]', HTMLInputElement)) {
    const id = dataset['knob'] ?? '';
    const us = Math.round(valueAsNumber * 1000);
    if (id === 'late') lateUs = us;
    else if (known.get(id) !== us) durations.set(id, us);
  }
  const value = (name: string): string =>
    findElement(section, `[data-choice="${name}"]`, HTMLSelectElement).value;
  return { durations, store: value('store'), message: value('delay the message'), lateUs };
}

function showRun(section: HTMLElement, data: PageData): void {
  const plan = turn(data.plan, turnedIn(section, data.plan));
  const outcome = findElement(section, '[data-outcome]', HTMLElement);
  const drawn = findElement(section, '[data-drawn]', HTMLElement);
  const refused = whyRefused(plan, builtIn);
  if (refused !== null) {
    outcome.innerHTML = render(element('p', { class: 'open' }, `? This cannot be run: ${refused}`));
    drawn.replaceChildren();
    return;
  }
  const judged = new Set([data.claim, ...[...builtIn.claims.keys()].filter(isJudgedUnlisted)]);
  const { trace, verdicts } = examine(plan, [...judged]);
  const { store } = data.plan.system;
  const untouched = { durations: new Map(), store, message: '', lateUs: 0 };
  if (JSON.stringify(plan) === JSON.stringify(turn(data.plan, untouched))) {
    // The finding itself is shown above.
    const events = countEvents(listSteps(trace, { evidence: [] }));
    const found = { claim: data.claim, verdicts, explanation: null, events };
    outcome.innerHTML = render(renderOutcome(found));
    drawn.replaceChildren();
    return;
  }
  const broken = verdicts.filter((verdict) => verdict.kind === 'invalid');
  const verdict = broken.find(({ claim }) => claim === data.claim) ?? broken[0] ?? null;
  const explained = verdict === null ? null : explainRunNow({ plan, trace, verdict });
  const explanation = explained?.explanation ?? null;
  const evidence =
    verdict === null || explained === null
      ? []
      : evidenceShown({ verdict, causation: explained.causation, trace });
  const events = countEvents(listSteps(trace, { evidence }));
  outcome.innerHTML = render(renderOutcome({ claim: data.claim, verdicts, explanation, events }));
  const claim = verdict?.claim ?? data.claim;
  const tried = {
    trace,
    plan,
    claim,
    evidence,
    linearization: linearizationOf(trace, { claim, model: modelOf(plan, builtIn) }),
    title: explanation?.headline ?? 'The run with your numbers',
  };
  const id = `${section.closest('article')?.id ?? ''}-t`;
  const { timeline, sequence } = drawPictures(tried, { id, mostDrawn: MOST_DRAWN });
  const isOpen = drawn.querySelector('details')?.open ?? false;
  const shown = [
    figureOf('At a glance', timeline.svg),
    details('Step by step', isOpen, figureOf('Step by step', sequence.svg)),
  ];
  drawn.innerHTML = render(shown);
}

function figureOf(name: string, picture: Markup): Markup {
  const caption = element('b', {}, `${name}, with your numbers`);
  return figure({ caption, name: `Tried: ${name}`, picture });
}
