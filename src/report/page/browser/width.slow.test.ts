/** The page is never wider than its window, even with a long text without spaces. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import type { Finding } from '../../../search/campaign/result.ts';
import type { HistoryReport } from '../../history-report.ts';
import { renderHistoryPage } from '../../html/history-page.ts';
import { renderPage } from '../../html/page.ts';
import { sampleSummary as overview } from '../../summary.fixture.ts';
import { addressOf, bundle, hasChromium, launch, open } from './browser.fixture.ts';
import { zombie } from './findings.fixture.ts';

const law = needs('chromium', hasChromium);
const script = hasChromium ? bundle() : null;

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const word = 'x'.repeat(10_000);
const { trace, explanation } = zombie;
const events = trace.events.map((event, at) =>
  at === 1
    ? { kind: 'log' as const, atUs: event.atUs, process: 'bob', topic: '', text: word }
    : event,
);

/** Returns the width of the content in a window of this width. */
async function widthIn(width: number, html: string): Promise<unknown> {
  const { page } = await open(browser, addressOf('wide', html), {
    viewport: { width, height: 900 },
  });
  const inside = await page.evaluate('document.documentElement.scrollWidth');
  await page.context().close();
  return inside;
}

law.each<[string, Finding]>([
  ['a headline', { ...zombie, explanation: { ...explanation, headline: word } }],
  ['the boundary of a finding', { ...zombie, boundary: word }],
  ['a client log', { ...zombie, trace: { ...trace, events } }],
])(
  '%s, one word of 10,000 letters, makes the report no wider than its window',
  async (_, finding) => {
    const html = renderPage({ findings: [finding], overview, script });
    for (const width of [1280, 390]) expect(await widthIn(width, html)).toBe(width);
  },
);

law('a note, one word of 10,000 letters, makes the page of a history no wider either', async () => {
  const report: HistoryReport = {
    file: 'a.json',
    format: 'json',
    model: 'register',
    isDetected: false,
    verdict: 'valid',
    operations: 0,
    processes: 0,
    configurations: 0,
    parts: [],
    notes: [word],
  };
  expect(await widthIn(390, renderHistoryPage([report]))).toBe(390);
});
