/**
 * Renders the HTML report: one file that opens anywhere and is complete with scripts disabled.
 * Findings come first, and the sweep follows.
 *
 * Read on in this order: `document.ts` (shared by all pages), `finding-article.ts` (one finding)
 * with `verdicts.ts` (the story and the result of each claim), `finding-pictures.ts` (both
 * pictures) with `page-data.ts` (the data of both), `process-state.ts`, `event-table.ts` and
 * `playground.ts`; then `sweep-overview.ts`. `../pictures` draws: `layout.ts`, `sequence.ts`,
 * `timeline.ts`. `../page` runs in the browser, from `boot.ts`. The other page is
 * `history-page.ts`.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Finding, Summary } from '../../search/campaign/result.ts';
import { type Child, element, type Markup, sentenceMarkup } from '../../text/markup.ts';
import { countOf } from '../../text/prose.ts';
import { metText } from '../overview.ts';
import type { PageScript } from './document.ts';
import { renderDocument, TOOL_STYLES } from './document.ts';
import { renderFinding } from './finding-article.ts';
import { renderSweepOverview } from './sweep-overview.ts';

export interface PageReport {
  readonly findings: readonly Finding[];
  readonly overview: Summary;
  /** The page's script, from `readPageScript`. Absent for a static page. */
  readonly script?: PageScript | null;
  /** Resolves the names in the plans. Default: the built-in catalogue. */
  readonly catalogue?: Catalogue;
}

/** Maximum number of events of all findings on a page. This limit keeps the page below 2 MB. */
const MOST_EVENTS = 2000;

export function renderPage(report: PageReport): string {
  const { findings, overview, script = null, catalogue = builtIn } = report;
  const mostEvents = Math.max(100, Math.floor(MOST_EVENTS / Math.max(1, findings.length)));
  const packed = new Map<string, Markup>();
  const options = { mostEvents, hasScript: Boolean(script), catalogue, packed };
  return renderDocument({
    title: titleOf(report),
    style: TOOL_STYLES,
    script,
    packed,
    skip: 'Skip to the findings',
    header: renderHeader(report),
    main: [
      findings.map((finding, at) => renderFinding(finding, { ...options, number: at + 1 })),
      renderSweepOverview(overview, findings.length > 0),
    ],
    footer: 'The same plan gives the same trace, byte for byte.',
  });
}

function titleOf({ findings, overview }: PageReport): string {
  const [first] = findings;
  if (first === undefined) return metText(overview);
  if (findings.length > 1) return countedText(findings);
  const headline = first.explanation.headline.replaceAll('`', '');
  return first.isExpected === true ? `✗ (expected) ${headline}` : headline;
}

/** Returns, for example, `3 counterexamples, all expected`. */
function countedText(findings: readonly Finding[]): string {
  const counted = countOf(findings.length, 'counterexample');
  const expected = findings.filter(({ isExpected }) => isExpected === true).length;
  if (expected === 0) return counted;
  return expected < findings.length
    ? `${counted}, ${findings.length - expected} not expected`
    : `${counted}, ${expected === 1 ? '' : 'all '}expected`;
}

/** Renders links to the sections of the first finding, which is long. */
function renderSections(finding: Finding, isLive: boolean): Child {
  const parts: Readonly<Record<string, string | null>> = {
    cured: finding.cured === undefined ? null : `On ${finding.cured.system}`,
    try: isLive ? 'Try it yourself' : null,
    type: 'What to type',
    state: 'Step by step',
    events: 'Events',
  };
  return Object.entries(parts).map(([id, text]) => {
    if (text === null) return [];
    return element('li', {}, element('a', { href: `#finding-1-${id}` }, text));
  });
}

function renderHeader({ findings, overview, script }: PageReport): Child {
  const links = findings.map((finding, at) =>
    element(
      'li',
      {},
      element('a', { href: `#finding-${at + 1}` }, sentenceMarkup(finding.explanation.headline)),
      element('span', { class: 'faint' }, ` ${finding.claim} of ${finding.system}`),
    ),
  );
  const sweep = element('li', {}, element('a', { href: '#overview' }, 'Overview of the sweep'));
  const [first] = findings;
  const sections = first === undefined ? [] : renderSections(first, Boolean(script));
  const list = element('ul', {}, sections, links.length > 1 ? links.slice(1) : [], sweep);
  const theme = { hidden: true, 'data-theme-switch': '', 'aria-pressed': 'false' };
  return [
    element('h1', {}, `fencepost report: ${countedText(findings)}, ${metText(overview)}`),
    script ? element('button', { type: 'button', ...theme }, 'Dark') : [],
    element('nav', { 'aria-label': 'Contents' }, list),
  ];
}
