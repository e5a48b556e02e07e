/**
 * The HTML report: one file that opens from anywhere and says everything with scripts off. Findings
 * come first, because that is what one opens it for; the sweep that found them follows.
 */
import { builtIn, type Catalogue } from '../catalogue.ts';
import { element, type Markup, render, sentenceMarkup, trusted } from '../text/markup.ts';
import { countOf } from '../text/prose.ts';
import type { Finding } from './finding.ts';
import { outcomeOf } from './overview.ts';
import { renderPageFinding } from './page-finding.ts';
import { renderPageOverview } from './page-overview.ts';
import { embeddable, renderPolicy } from './page-policy.ts';
import { pageStyle } from './page-style.ts';
import { toolStyle } from './page-tool-style.ts';
import type { Summary } from './summary.ts';

export interface PageReport {
  readonly findings: readonly Finding[];
  readonly overview: Summary;
  /** The page's own script, as `readPageScript` gives it. Absent: the page only stands still. */
  readonly script?: string | null;
  /** Where the words of the findings' plans are looked up; built-in ones by default. */
  readonly catalogue?: Catalogue;
}

/** Drawn and listed on one page, shared by its findings, so that it stays below 2 MB. */
const MOST_EVENTS = 2000;

/** The page as one HTML document. */
export function renderPage(report: PageReport): string {
  const { findings, overview, catalogue = builtIn } = report;
  const style = `${pageStyle()}${toolStyle()}`;
  const script = report.script ? embeddable(report.script) : null;
  const mostEvents = Math.max(100, Math.floor(MOST_EVENTS / Math.max(1, findings.length)));
  const options = { mostEvents, hasScript: script !== null, catalogue };
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    renderPolicy({ style, script }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, titleOf(report)),
    element('style', {}, trusted(style)),
  );
  const body = element(
    'body',
    {},
    element('a', { class: 'skip', href: '#content' }, 'Skip to the findings'),
    renderHeader(report),
    element(
      'main',
      { id: 'content' },
      findings.map((finding, at) => renderPageFinding(finding, { ...options, number: at + 1 })),
      renderPageOverview(overview),
    ),
    element('footer', {}, 'Made by fencepost. The same plan gives the same trace, byte for byte.'),
    script === null ? [] : element('script', {}, trusted(script)),
  );
  return `<!doctype html>\n${render(element('html', { lang: 'en' }, head, body))}\n`;
}

function titleOf({ findings, overview }: PageReport): string {
  const [first] = findings;
  if (findings.length === 1 && first !== undefined) {
    return `${first.explanation.headline.replaceAll('`', '')} · fencepost`;
  }
  if (findings.length === 0) return `${outcomeOf(overview)} · fencepost`;
  return `${countOf(findings.length, 'counterexample')} · fencepost`;
}

function renderHeader({ findings, overview, script }: PageReport): Markup {
  const links = findings.map((finding, at) =>
    element(
      'li',
      {},
      element('a', { href: `#finding-${at + 1}` }, sentenceMarkup(finding.explanation.headline)),
      element('span', { class: 'faint' }, ` ${finding.claim} of ${finding.system}`),
    ),
  );
  const sweep = element('li', {}, element('a', { href: '#overview' }, 'Overview of the sweep'));
  const theme = element(
    'button',
    { type: 'button', hidden: true, 'data-theme-switch': '', 'aria-pressed': 'false' },
    'Dark',
  );
  return element(
    'header',
    {},
    element(
      'h1',
      {},
      `fencepost report: ${countOf(findings.length, 'counterexample')}, ${outcomeOf(overview)}`,
    ),
    script ? theme : [],
    element(
      'nav',
      { 'aria-label': 'Contents' },
      element('ul', {}, links.length > 1 ? links : [], sweep),
    ),
  );
}
