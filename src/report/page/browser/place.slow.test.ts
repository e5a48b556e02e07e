/** Tests to which place the page scrolls, and which part of its pictures is then visible. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import { renderPage } from '../../html/page.ts';
import { sampleSummary as overview } from '../../summary.fixture.ts';
import { addressOf, bundle, hasChromium, launch, open, unfold } from './browser.fixture.ts';
import { findingOf, planIn, zombie } from './findings.fixture.ts';

const law = needs('chromium', hasChromium);
const script = hasChromium ? bundle() : null;
const NARROW = { width: 390, height: 800 };

/** Expects the picture of the addressed finding at the top, with its step bar in view. */
async function expectInSight(page: Page, hash: string): Promise<void> {
  // Smooth scrolling takes time.
  await page.waitForTimeout(800);
  const bar = page.locator('.stepper').nth(hash.startsWith('#f2-') ? 1 : 0);
  const picture = page.locator('figure[data-time=true]').nth(hash.startsWith('#f2-') ? 1 : 0);
  const top = (await picture.boundingBox())?.y;
  expect(top, hash).toBeGreaterThanOrEqual(0);
  expect(top, hash).toBeLessThan(60);
  const { y = 0, height = 0 } = (await bar.boundingBox()) ?? expect.fail('no step bar');
  expect(y + height, hash).toBeLessThan(page.viewportSize()?.height ?? 0);
}

/** Returns true if the middle of the nth picture's mark lies inside the frame of the picture. */
async function isMarkInFrame(page: Page, nth: number): Promise<boolean> {
  const frame = await page.locator('figure[data-time] .scroll').nth(nth).boundingBox();
  const mark = await page.locator('figure[data-time] rect[data-cursor]').nth(nth).boundingBox();
  if (frame === null || mark === null) return false;
  const middle = mark.x + mark.width / 2;
  return middle > frame.x && middle < frame.x + frame.width;
}

describe('the place to which the page scrolls', () => {
  let browser: Browser;
  const other = findingOf(planIn('zombie-writer-unfenced-linearizable'), 'linearizable');
  const html = renderPage({ findings: [zombie, other], overview, script });
  const address = addressOf('place', html);

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  for (const viewport of [{ width: 1280, height: 900 }, NARROW]) {
    law(`is the picture of the event that the address names, ${viewport.width} px`, async () => {
      for (const [hash, next] of [
        ['#e=3', '#f2-e=3'],
        ['#f2-e=3', '#e=5'],
      ] as const) {
        const { page } = await open(browser, `${address}${hash}`, { viewport });
        await expectInSight(page, hash);
        await page.evaluate(`location.hash = '${next}'`);
        await expectInSight(page, next);
      }
    });
  }

  law('is also the picture after a click on the event that the address names', async () => {
    const { page } = await open(browser, `${address}#e=5`);
    await unfold(page);
    await page.locator('a[href="#e=5"]').click();
    await expectInSight(page, '#e=5');
  });

  law('has the current step in the frame of the picture, on a narrow screen', async () => {
    const { page } = await open(browser, address, { viewport: NARROW });
    expect(await isMarkInFrame(page, 0)).toBe(true);
    const frame = page.locator('figure[data-time=true] .scroll').first();
    const scrolled = (): Promise<number> => frame.evaluate(({ scrollLeft }) => scrollLeft);
    const atViolation = await scrolled();
    expect(atViolation).toBeGreaterThan(100);
    await page.keyboard.press('Home');
    expect(await isMarkInFrame(page, 0)).toBe(true);
    expect(await scrolled()).toBeLessThan(atViolation);
    await page.keyboard.press('v');
    expect(await scrolled()).toBe(atViolation);
  });

  law('scrolls the warped picture to the lane of the current step', async () => {
    const { page } = await open(browser, address, { viewport: NARROW });
    await unfold(page);
    const warped = page.locator('figure[data-time=warped] .scroll').first();
    const head = warped.locator('text', { hasText: /^store$/ }).first();
    const [lane, frame] = [await head.boundingBox(), await warped.boundingBox()];
    expect(lane?.x).toBeGreaterThan(frame?.x ?? 0);
    expect(lane?.x).toBeLessThan((frame?.x ?? 0) + (frame?.width ?? 0));
  });
});
