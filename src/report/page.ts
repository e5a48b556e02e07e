/**
 * The HTML report: one file without scripts that opens from anywhere. Findings come first, because
 * that is what one opens it for; the sweep that found them follows.
 */
import type { Finding } from './finding.ts';
import { element, type Markup, render, sentenceMarkup, trusted } from './markup.ts';
import { outcomeOf } from './overview.ts';
import { renderPageFinding } from './page-finding.ts';
import { renderPageOverview } from './page-overview.ts';
import { pageStyle } from './page-style.ts';
import { countOf } from './prose.ts';
import type { Summary } from './summary.ts';

export interface PageReport {
  readonly findings: readonly Finding[];
  readonly overview: Summary;
}

/** Drawn and listed on one page, shared by its findings, so that it stays below 2 MB. */
const MOST_EVENTS = 2000;

/** The page as one HTML document. */
export function renderPage(report: PageReport): string {
  const title = titleOf(report);
  const mostEvents = Math.max(100, Math.floor(MOST_EVENTS / Math.max(1, report.findings.length)));
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, title),
    element('style', {}, trusted(pageStyle())),
  );
  const body = element(
    'body',
    {},
    element('a', { class: 'skip', href: '#content' }, 'Skip to the findings'),
    renderHeader(report),
    element(
      'main',
      { id: 'content' },
      report.findings.map((finding, at) =>
        renderPageFinding(finding, { number: at + 1, mostEvents }),
      ),
      renderPageOverview(report.overview),
    ),
    element('footer', {}, 'Made by fencepost. The same plan gives the same trace, byte for byte.'),
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

function renderHeader({ findings, overview }: PageReport): Markup {
  const links = findings.map((finding, at) =>
    element(
      'li',
      {},
      element('a', { href: `#finding-${at + 1}` }, sentenceMarkup(finding.explanation.headline)),
      element('span', { class: 'faint' }, ` ${finding.claim} of ${finding.system}`),
    ),
  );
  const sweep = element('li', {}, element('a', { href: '#overview' }, 'Overview of the sweep'));
  const count = countOf(findings.length, 'counterexample');
  return element(
    'header',
    {},
    element('h1', {}, `fencepost report: ${count}, ${outcomeOf(overview)}`),
    element(
      'nav',
      { 'aria-label': 'Contents' },
      element('ul', {}, links.length > 1 ? links : [], sweep),
    ),
  );
}
