/** Tests the controls of the report page in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import type { Finding } from '../../../search/campaign/result.ts';
import { evidenceShown } from '../../finding.ts';
import { renderPage } from '../../html/page.ts';
import { manyZombies } from '../../sample.fixture.ts';
import { countEvents, listSteps } from '../../steps.ts';
import { sampleSummary as overview } from '../../summary.fixture.ts';
import { addressOf, bundle, hasChromium, launch, open, unfold } from './browser.fixture.ts';
import { findingOf, planIn, zombie } from './findings.fixture.ts';

const law = needs('chromium', hasChromium);
const script = hasChromium ? bundle() : null;

function addressWith(name: string, findings: readonly Finding[]): string {
  return addressOf(name, renderPage({ findings, overview, script }));
}

const where = (page: Page): Promise<string> => page.locator('[data-where]').first().innerText();

describe('the page in a browser', () => {
  let browser: Browser;
  const address = addressWith('page', [zombie]);
  const shown = { evidence: evidenceShown(zombie), faults: zombie.plan.faults };
  const steps = listSteps(zombie.trace, shown);
  const last = Math.max(...shown.evidence.map(({ event }) => event));
  const violation = steps.findIndex(({ event }) => event === last);
  const before = (at: number): number => countEvents(steps.slice(0, at + 1));

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  law('starts at the violation and steps with the arrows, Home, End and v', async () => {
    const { page, errors } = await open(browser, address);
    const start = await where(page);
    expect(start).toContain('stale write');
    const numbers: number[] = [];
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'v']) {
      await page.keyboard.press(key);
      numbers.push(Number(/vent (\d+) of \d+ ·/.exec(await where(page))?.[1] ?? 0));
    }
    const seen = [violation - 1, violation - 2, violation - 1, 0, steps.length - 1, violation];
    expect(numbers).toEqual(seen.map(before));
    expect(await where(page)).toBe(start);
    expect(errors).toEqual([]);
  });

  law('goes to the event that the address names, as it loads and as it changes', async () => {
    const { page } = await open(browser, `${address}#e=1`);
    expect(await where(page)).toContain('grants token 1');
    await unfold(page);
    await page.locator(`a[href="#e=${before(violation)}"]`).click();
    // The browser reports a changed address with a delay.
    await expect.poll(() => where(page)).toContain('stale write');
    expect(await page.locator('tr[aria-current=step]').getAttribute('data-row')).toBe(`${last}`);
    for (const key of ['v', 'ArrowLeft', 'v']) await page.keyboard.press(key);
    expect(await page.evaluate('location.hash')).toBe(`#e=${before(violation)}`);
  });

  law('shows what each process believes and marks what a step changed', async () => {
    const { page } = await open(browser, `${address}#e=1`);
    await unfold(page);
    const lock = page.locator('.state > li', { hasText: 'is held by' });
    expect(await lock.innerText()).toMatch(/token 1.*← changed/s);
    await page.keyboard.press('v');
    const state = await page.locator('[data-state]').innerText();
    expect(state).toMatch(/✗ (its lease has ended|\w+ holds it)/);
  });

  law('marks the current step in both pictures', async () => {
    const { page } = await open(browser, `${address}#e=3`);
    const cursors = page.locator('figure[data-time] rect[data-cursor]');
    const right = await cursors.nth(0).getAttribute('x');
    const down = await cursors.nth(1).getAttribute('y');
    await page.keyboard.press('v');
    expect(Number(await cursors.nth(0).getAttribute('x'))).toBeGreaterThan(Number(right));
    expect(Number(await cursors.nth(1).getAttribute('y'))).toBeGreaterThan(Number(down));
    expect(await cursors.nth(0).getAttribute('visibility')).toBe('visible');
    expect(await cursors.nth(1).getAttribute('visibility')).toBe('visible');
  });

  law('shows the story one sentence at a time, each highlighted in the picture', async () => {
    const { page, errors } = await open(browser, address);
    const sentences = await page.locator('.plainly li').allInnerTexts();
    const light = page.locator('figure[data-time=true] rect[data-cursor]');
    const places: number[] = [];
    for (const sentence of sentences) {
      await page.locator('[data-story=next]').click();
      expect(await where(page)).toBe(sentence);
      expect(await page.locator('.plainly [aria-current=step]').allInnerTexts()).toEqual([
        sentence,
      ]);
      places.push(Number(await light.getAttribute('x')));
    }
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(new Set(places).size).toBeGreaterThan(4);
    expect(errors).toEqual([]);
  });

  law(
    'marks the write that breaks the claim as its line does, and explains that in the key',
    async () => {
      const { page } = await open(browser, address);
      const figure = page.locator('figure[data-time=true]');
      const signs = await figure
        .locator('svg.scale text', { hasText: /^[✓✗⊘]$/ })
        .allTextContents();
      expect(signs).toEqual(['✓', '✓']);
      expect(await figure.locator('.key').innerText()).toContain(
        '✓ accepted write that breaks the claim',
      );
    },
  );

  law('keeps the names of lanes visible while the picture scrolls', async () => {
    const { page } = await open(browser, address, { viewport: { width: 390, height: 844 } });
    const frame = page.locator('figure[data-time=true] .scroll');
    await frame.evaluate((element) => element.scrollTo({ left: 400, behavior: 'instant' }));
    const [outer, names] = [await frame.boundingBox(), await frame.locator('.lanes').boundingBox()];
    expect(names?.x).toBeCloseTo((outer?.x ?? 0) + 1, 0);
    const [scale] = [await frame.locator('.scale').boundingBox()];
    expect(names?.height).toBeCloseTo(scale?.height ?? 0, 0);
  });

  law('links to its sections, even folded ones, and copies commands', async () => {
    const { page, errors } = await open(browser, address);
    for (const link of await page.locator('nav a').all()) {
      await link.click();
      const target = (await link.getAttribute('href')) ?? '';
      expect(await page.locator(target).isVisible(), target).toBe(true);
    }
    const copy = page.locator('.commands .copy').first();
    await copy.click();
    await expect.poll(() => copy.innerText()).toMatch(/^(?:Copied|Selected)$/);
    const selected = await page.evaluate('getSelection().toString()');
    expect(selected).toBe(await page.locator('.commands code').first().innerText());
    expect(errors).toEqual([]);
  });

  law('filters events by text, process and kind', async () => {
    const { page } = await open(browser, address);
    await unfold(page);
    const rows = page.locator('[data-events] tbody tr');
    const all = await rows.count();
    await page.locator('[data-filter=text]').fill('PAUSED');
    expect(await rows.count()).toBe(1);
    await page.locator('[data-filter=text]').fill('');
    await page.locator('[data-filter=process]').selectOption('store');
    const ofStore = await rows.count();
    expect(ofStore).toBeLessThan(all);
    await page.locator('[data-filter=kind]').selectOption('reads and writes');
    expect(await rows.allInnerTexts()).toHaveLength(2);
    await page.locator('[data-filter=process]').selectOption('');
    await page.locator('[data-filter=kind]').selectOption('');
    expect(await rows.count()).toBe(all);
  });

  law('hides lanes and shows one time or both', async () => {
    const { page } = await open(browser, address);
    await unfold(page);
    const warped = page.locator('figure[data-time=warped]');
    expect(await warped.locator('svg').innerHTML()).toContain('accepts');
    await page.locator('[data-lane][value=store]').uncheck();
    expect(await warped.locator('svg').innerHTML()).not.toContain('accepts');
    await page.locator('.switches input[value=true]').check();
    expect(await warped.isVisible()).toBe(false);
    await page.locator('.switches input[value=warped]').check();
    expect(await page.locator('figure[data-time=true]').isVisible()).toBe(false);
    expect(await warped.isVisible()).toBe(true);
  });

  law('runs the plan again with another pause, ttl or store, and shows the result', async () => {
    const { page, errors } = await open(browser, address);
    const outcome = page.locator('[data-outcome]');
    const pause = page.locator('[data-knob^=faults]').first();
    expect(await outcome.innerText()).toContain('✗ grant-order still breaks');
    const before = await page.locator('[data-drawn]').innerHTML();
    await pause.fill('1');
    expect(await outcome.innerText()).toContain('– grant-order is not tested in this run');
    expect(await page.locator('[data-drawn]').innerHTML()).not.toBe(before);
    await page.locator('[data-reset]').click();
    expect(await page.locator('[data-drawn]').innerHTML()).toBe(before);
    await page.locator('[data-choice=store]').selectOption('fenced');
    expect(await outcome.innerText()).toContain('✓ grant-order holds');
    await page.locator('[data-reset]').click();
    await page.locator('[data-knob^=ttl]').first().fill('200');
    expect(await outcome.innerText()).toContain('– grant-order is not tested');
    expect(errors).toEqual([]);
  });

  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    law(`has the picture on the first screen, ${viewport.width} × ${viewport.height}`, async () => {
      const { page } = await open(browser, address, { viewport });
      const frame = await page.locator('figure[data-time=true] .scroll').first().boundingBox();
      const { y = 0, height = 0 } = frame ?? expect.fail('no picture');
      expect(height).toBeGreaterThan(200);
      expect(y + height).toBeLessThanOrEqual(viewport.height);
    });
  }

  law('is at most 3,500 px long with everything folded', async () => {
    const { page } = await open(browser, address, { viewport: { width: 1440, height: 900 } });
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(3500);
  });

  law('shows the same plan on the system that holds below its story', async () => {
    const { page } = await open(browser, address);
    const beside = page.locator('section.beside');
    expect(await beside.innerText()).toContain('The same plan on fenced');
    expect(await beside.innerText()).toMatch(
      /First difference, at 23 ms: here store: ✓ accepts \w+'s x = 1.*there store: ⊘ refuses \w+'s x = 1, token 1, highest seen 2/s,
    );
    expect(await beside.locator('svg.scale').count()).toBe(1);
  });

  law('shows the nearest passing run beside it, with the first difference', async () => {
    const { page } = await open(browser, address);
    await unfold(page);
    const beside = page.locator('details.beside').first();
    expect(await beside.innerText()).toMatch(/What was changed: pause of \w+, .* here, .* there\./);
    expect(await beside.innerText()).toContain('First difference, at ');
    expect(await beside.locator('svg.scale').count()).toBe(2);
  });

  law('keeps several findings separate', async () => {
    const other = findingOf(planIn('zombie-writer-unfenced-linearizable'), 'linearizable');
    const two = addressWith('two', [zombie, other]);
    const { page, errors } = await open(browser, `${two}#f2-e=1`);
    const texts = await page.locator('[data-where]').allInnerTexts();
    expect(texts[1]).toContain('grants token 1');
    expect(texts[0]).toContain('stale write');
    await page.keyboard.press('End');
    expect((await page.locator('[data-where]').allInnerTexts())[0]).toBe(texts[0]);
    expect(errors).toEqual([]);
  });

  law('steps through 10,000 events, a part at a time', async () => {
    const { page, errors } = await open(browser, addressWith('long', [manyZombies(286)]));
    expect(await page.locator('[data-events] tbody tr').count()).toBeLessThanOrEqual(400);
    const started = performance.now();
    for (let step = 0; step < 60; step += 1) await page.keyboard.press('ArrowLeft');
    const perStep = (performance.now() - started) / 60;
    await page.keyboard.press('Home');
    expect(await where(page)).toMatch(/^Before the first event · /);
    expect(await page.locator('tr[aria-current=step]').count()).toBe(1);
    expect(errors).toEqual([]);
    console.info(`10,010 events: ${perStep.toFixed(1)} ms a step`);
  });
});
