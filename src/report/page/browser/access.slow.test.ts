/** Tests the page with axe, with the keyboard, on a narrow screen, in dark mode and on paper. */
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import { renderPage } from '../../html/page.ts';
import { sampleSummary as overview } from '../../summary.fixture.ts';
import { addressOf, bundle, hasChromium, launch, open, unfold } from './browser.fixture.ts';
import { findingOf, planIn, zombie } from './findings.fixture.ts';

const law = needs('chromium', hasChromium);
const script = hasChromium ? bundle() : null;

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

describe('the page for every reader', () => {
  let browser: Browser;
  const clock = findingOf(planIn('clock-step-wall-mutual-exclusion'), 'mutual-exclusion');
  const order = findingOf(planIn('zombie-writer-unfenced-linearizable'), 'linearizable');
  const html = renderPage({ findings: [zombie, clock, order], overview, script });
  const address = addressOf('access', html);

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  for (const colorScheme of ['light', 'dark'] as const) {
    law(`has no serious problem for axe, ${colorScheme}`, async () => {
      // The page's own policy rightly refuses axe's script.
      const { page, errors } = await open(browser, address, { colorScheme, bypassCSP: true });
      await page.evaluate(axe.source);
      const found: Violation[] = await page.evaluate('axe.run().then((r) => r.violations)');
      const grave = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      const messages = grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
      expect(messages).toEqual([]);
      expect(errors).toEqual([]);
    });
  }

  law('needs no sideways scrolling at 390 px', async () => {
    const viewport = { width: 390, height: 800 };
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await open(browser, address, { viewport, javaScriptEnabled });
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect(wide).toBeLessThanOrEqual(390);
    }
  });

  law('is dark if the screen is, and by its button', async () => {
    const ground = 'getComputedStyle(document.body).backgroundColor';
    const { page } = await open(browser, address, { colorScheme: 'dark' });
    const dark = await page.evaluate(ground);
    const paper = "getComputedStyle(document.querySelector('figure svg rect')).fill";
    const darkPaper = await page.evaluate(paper);
    await page.locator('[data-theme-switch]').click();
    const light = await page.evaluate(ground);
    expect(light).not.toBe(dark);
    expect(await page.evaluate(paper)).not.toBe(darkPaper);
    const other = await open(browser, address, { colorScheme: 'light' });
    expect(await other.page.evaluate(ground)).toBe(light);
    await other.page.locator('[data-theme-switch]').click();
    expect(await other.page.evaluate(ground)).toBe(dark);
  });

  law('is navigable by Tab, with a visible focus at every stop', async () => {
    const { page } = await open(browser, address);
    await unfold(page);
    await page.locator('.skip').focus();
    const stops = new Set<string>();
    for (let stop = 0; stop < 60; stop += 1) {
      await page.keyboard.press('Tab');
      const seen: unknown = await page.evaluate(`(() => {
        const at = document.activeElement, style = getComputedStyle(at);
        const name = at.dataset.go ?? at.dataset.filter ?? at.dataset.knob ?? at.dataset.choice
          ?? at.dataset.lane ?? at.className ?? '';
        return [at.tagName + ' ' + name, style.outlineStyle !== 'none', at.getBoundingClientRect().height];
      })()`);
      if (!Array.isArray(seen)) throw new Error('nothing has the focus');
      const [name, isOutlined, height] = seen;
      expect(isOutlined, String(name)).toBe(true);
      expect(height, String(name)).toBeGreaterThan(0);
      stops.add(String(name));
    }
    for (const one of ['first', 'back', 'next', 'last', 'violation']) {
      expect(stops).toContain(`BUTTON ${one}`);
    }
    expect(stops).toContain('SELECT store');
    expect(stops).toContain('INPUT text');
  });

  law('steps by its buttons with Enter and Space', async () => {
    const { page } = await open(browser, address);
    const where = page.locator('[data-where]').first();
    const before = await where.innerText();
    await page.locator('[data-go=back]').first().focus();
    await page.keyboard.press('Enter');
    expect(await where.innerText()).not.toBe(before);
    await page.locator('[data-go=next]').first().focus();
    await page.keyboard.press('Space');
    expect(await where.innerText()).toBe(before);
  });

  law('has no smooth scrolling if the reader prefers reduced motion', async () => {
    const behaviour = 'getComputedStyle(document.documentElement).scrollBehavior';
    const still = await open(browser, address, { reducedMotion: 'reduce' });
    expect(await still.page.evaluate(behaviour)).toBe('auto');
    const moving = await open(browser, address, { reducedMotion: 'no-preference' });
    expect(await moving.page.evaluate(behaviour)).toBe('smooth');
  });

  law(
    'prints the story, the pictures and the table in dark on light, without its controls',
    async () => {
      const { page } = await open(browser, address, { colorScheme: 'dark' });
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('.stepper').first().isVisible()).toBe(false);
      expect(await page.locator('[data-try]').first().isVisible()).toBe(false);
      expect(await page.locator('.plainly').first().isVisible()).toBe(true);
      const ink = 'getComputedStyle(document.body).color';
      expect(await page.evaluate(ink)).toBe('rgb(27, 31, 36)');
      const pdf = await page.pdf();
      expect(pdf.length).toBeGreaterThan(20_000);
    },
  );
});
