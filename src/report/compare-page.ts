/**
 * The page of `fencepost compare`: what became of the folklore, the plot, and every figure as a
 * table. One file without scripts.
 */
import type { Cell, Condition } from '../search/compare/comparison.ts';
import type { Ruling, Saying } from '../search/compare/folklore.ts';
import { type Child, element, type Markup, render, trusted } from '../text/markup.ts';
import { countOf } from '../text/prose.ts';
import { drawKey, drawPanel } from './compare-picture.ts';
import {
  type Comparison,
  conditionsOf,
  conditionTitle,
  figureText,
  findingText,
  intervalText,
  MEASURES,
  type Measure,
  methodNotes,
  SIGNS,
} from './compare-rows.ts';
import { pageStyle } from './page-style.ts';

const STYLE = `
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:22px 26px;margin-top:18px}
.panels figure+figure{margin-top:0}svg.panel{width:100%;height:auto}
.panels figcaption{margin:0 0 2px}
td small{display:block;color:var(--soft);font-size:12px}
.sayings{list-style:none;margin:18px 0 0;padding:0}.sayings>li{margin:18px 0 0}
.sayings .notes{margin-top:6px;list-style:none;padding-left:2px}.sayings .saying{font-size:18px;font-weight:600}
.wide{overflow-x:auto}.wide tbody th{white-space:nowrap}.wide thead th.number{white-space:normal}.wide th,.wide td{padding-right:9px}
`;

/** The page as one HTML document. */
export function renderComparePage(comparison: Comparison): string {
  const { systems } = comparison;
  const title = `${systems.map(({ name }) => name).join(', ')} compared · fencepost`;
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, title),
    element('style', {}, trusted(pageStyle() + STYLE)),
  );
  const body = element(
    'body',
    {},
    element('a', { class: 'skip', href: '#content' }, 'Skip to the comparison'),
    element('header', {}, element('h1', {}, 'fencepost compare')),
    element(
      'main',
      { id: 'content' },
      renderFolklore(comparison),
      renderPlot(comparison),
      renderTables(comparison),
      renderMethod(comparison),
    ),
    element('footer', {}, 'Made by fencepost. The same seeds give the same figures, to the digit.'),
  );
  return `<!doctype html>\n${render(element('html', { lang: 'en' }, head, body))}\n`;
}

function card(id: string, title: string, ...children: Child[]): Markup {
  const heading = element('h2', { id: `${id}-title` }, title);
  return element(
    'section',
    { class: 'card', id, 'aria-labelledby': `${id}-title` },
    heading,
    ...children,
  );
}

const TONES: Readonly<Record<Ruling, string>> = {
  holds: 'good',
  fails: 'bad',
  mixed: 'open',
  undecided: 'open',
  'not measured': 'faint',
};

function badge(ruling: Ruling): Markup {
  return element('span', { class: `badge ${TONES[ruling]}` }, `${SIGNS[ruling]} ${ruling}`);
}

function renderFolklore({ folklore, seeds }: Comparison): Markup {
  return card(
    'folklore',
    'Does the folklore hold?',
    element(
      'p',
      { class: 'faint' },
      `As far as ${countOf(seeds, 'seed')} can tell. A difference counts only where its interval of 97.5 % leaves out 0: two of them judge a saying.`,
    ),
    element('ul', { class: 'sayings' }, folklore.map(renderSaying)),
  );
}

function renderSaying({ saying, ruling, findings }: Saying): Markup {
  const sentence = `${saying.charAt(0).toUpperCase()}${saying.slice(1)}`;
  return element(
    'li',
    {},
    element('span', { class: 'saying' }, `“${sentence}”`),
    ' ',
    badge(ruling),
    element(
      'ul',
      { class: 'notes' },
      findings.map((finding) =>
        element(
          'li',
          {},
          element('span', { class: TONES[finding.ruling] }, SIGNS[finding.ruling]),
          ` ${findingText(finding)}`,
        ),
      ),
    ),
  );
}

function renderPlot({ systems, cells }: Comparison): Markup {
  const names = systems.map(({ name }) => name);
  const panels = MEASURES.flatMap((measure): Markup[] => {
    const picture = drawPanel(measure, { cells, systems: names });
    if (picture === null) return [];
    const title = element('b', {}, measure.name);
    const caption = element('figcaption', {}, title, `, ${measure.unit}`);
    return [element('figure', {}, caption, picture)];
  });
  const nothing = MEASURES.filter((measure) => isNothing(measure, cells)).map(({ name }) => name);
  return card(
    'plot',
    'Side by side',
    drawKey(systems),
    element('div', { class: 'panels' }, panels),
    nothing.length === 0
      ? []
      : element('p', { class: 'faint' }, `Nothing to draw: no ${nothing.join(', no ')} anywhere.`),
  );
}

function isNothing(measure: Measure, cells: readonly Cell[]): boolean {
  return cells.every(({ figures }) => (measure.of(figures).value ?? 0) === 0);
}

function renderTables({ cells }: Comparison): Markup {
  return card(
    'figures',
    'All figures',
    conditionsOf(cells).map((condition) => renderTable(condition, cells)),
  );
}

function renderTable(condition: Condition, cells: readonly Cell[]): Markup {
  const rows = cells.filter((cell) => cell.condition === condition);
  const title = conditionTitle(condition);
  return element(
    'div',
    { class: 'system wide' },
    element(
      'table',
      {},
      element(
        'caption',
        {},
        element('b', {}, `${title.charAt(0).toUpperCase()}${title.slice(1)}`),
        `: ${condition.about}`,
      ),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, 'System'),
          MEASURES.map(({ name, unit }) =>
            element('th', { scope: 'col', class: 'number' }, name, element('br', {}), unit),
          ),
        ),
      ),
      element('tbody', {}, rows.map(renderRow)),
    ),
  );
}

function renderRow({ system, figures }: Cell): Markup {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, element('bdi', {}, system)),
    MEASURES.map((measure) => {
      const estimate = measure.of(figures);
      const value = figureText(estimate.value);
      const interval = intervalText(estimate);
      const bounds = interval === '' ? [] : element('small', {}, interval);
      return element('td', { class: 'number' }, value, bounds);
    }),
  );
}

function renderMethod(comparison: Comparison): Markup {
  const notes = methodNotes(comparison).map((note) => element('li', {}, note));
  return card('method', 'How it was measured', element('ul', { class: 'notes' }, notes));
}
