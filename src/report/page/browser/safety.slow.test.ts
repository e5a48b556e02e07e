/** The page makes no requests, runs only its own script, and shows names as text. */
import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import { renderPage } from '../../html/page.ts';
import { renamed } from '../../sample.fixture.ts';
import { sampleSummary as overview } from '../../summary.fixture.ts';
import { addressOf, bundle, hasChromium, launch, open, unfold } from './browser.fixture.ts';
import { zombie } from './findings.fixture.ts';

const STRICT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const law = needs('chromium', hasChromium);
const script = hasChromium ? bundle() : null;

/** Serves one page under a policy. Returns its address. */
async function serve(server: Server, html: string, policy: string): Promise<string> {
  server.on('request', (_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Security-Policy', policy);
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}/`;
}

async function saysAll(page: Page): Promise<void> {
  await unfold(page);
  expect(await page.locator('.plainly').innerText()).toContain('is paused for');
  expect(await page.locator('figure[data-time] .scroll svg:not(.lanes)').count()).toBe(2);
  const box = await page.locator('figure[data-time=true] .scroll svg.scale').boundingBox();
  expect(box?.height).toBeGreaterThan(200);
  expect(await page.locator('[data-events] tbody tr').count()).toBeGreaterThan(30);
  expect(await page.locator('[data-state]').innerText()).toContain('believes it holds');
  expect(await page.locator('.stepper').first().isVisible()).toBe(false);
}

describe('the page, opened from anywhere', () => {
  let browser: Browser;
  const html = renderPage({ findings: [zombie], overview, script });
  const address = addressOf('safe', html);
  const server = createServer();

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  law('makes no requests', async () => {
    const { page, requests, errors } = await open(browser, address);
    await page.keyboard.press('ArrowLeft');
    await page.locator('[data-knob]').first().fill('3');
    expect(requests).toEqual([address]);
    expect(errors).toEqual([]);
  });

  law('shows everything without scripts', async () => {
    const { page } = await open(browser, address, { javaScriptEnabled: false });
    await saysAll(page);
  });

  law('shows everything under a policy that forbids scripts', async () => {
    const { page } = await open(browser, await serve(server, html, STRICT));
    await saysAll(page);
    const fill =
      "getComputedStyle(document.querySelector('figure[data-time] .scroll svg > rect')).fill";
    expect(await page.evaluate(fill)).not.toBe('rgb(0, 0, 0)');
  });

  law('runs only its own script', async () => {
    const attacked = html.replace('<main', '<script>window.attacked = 1</script><main');
    const { page, errors } = await open(browser, addressOf('attacked', attacked));
    expect(await page.evaluate('window.attacked')).toBeUndefined();
    expect(errors.join()).toContain('Content Security Policy');
    expect(await page.locator('.stepper').isVisible()).toBe(true);
  });

  law('shows hostile names as text', async () => {
    const names = [
      '<script>window.attacked = 1</script>',
      '"><img src=x onerror="window.attacked = 1">\'',
      '</script><script>window.attacked = 1</script><!--',
      'right\u202eto\u2066left',
      'x'.repeat(10_000),
    ];
    const client = zombie.plan.clients[0]?.name ?? '';
    for (const name of names) {
      const hostile = renamed(zombie, client, name);
      const { page } = await open(
        browser,
        addressOf('hostile', renderPage({ findings: [hostile], overview, script })),
      );
      await unfold(page);
      await page.keyboard.press('ArrowLeft');
      await page.locator('[data-lane]').first().uncheck();
      await page.locator('[data-filter=kind]').selectOption('grants');
      expect(await page.evaluate('window.attacked'), name.slice(0, 60)).toBeUndefined();
      expect(await page.locator('img').count()).toBe(0);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width, name.slice(0, 60)).toBe(1280);
    }
  });
});
