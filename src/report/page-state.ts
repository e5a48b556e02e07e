/** The state of every process after a step, as cards; what the step changed is marked. */
import { type Child, element, type Markup } from '../text/markup.ts';
import type { Fact, ProcessState } from './state.ts';

/** One card a process. `before` is the state after the step before, null where there is none. */
export function renderState(
  now: readonly ProcessState[],
  before: readonly ProcessState[] | null,
): Markup {
  const cards = now.map((state) => {
    const known = before?.find(({ process }) => process === state.process);
    return renderCard(state, known ?? null);
  });
  return element('ul', { class: 'state' }, cards);
}

function renderCard(state: ProcessState, before: ProcessState | null): Markup {
  const facts = state.facts.map((fact) => renderFact(fact, before));
  return element(
    'li',
    {},
    element('b', {}, element('bdi', {}, state.process)),
    element('dl', {}, facts),
  );
}

function renderFact({ name, value }: Fact, before: ProcessState | null): Child {
  const known = before?.facts.find((fact) => fact.name === name)?.value;
  const isChanged = before !== null && known !== value;
  const mark = isChanged ? element('span', { class: 'mark' }, ' ← changed') : '';
  return [
    element('dt', {}, name),
    element(
      'dd',
      { class: isChanged ? 'changed' : null },
      element('bdi', { class: value.startsWith('✗') ? 'bad' : null }, value),
      mark,
    ),
  ];
}
