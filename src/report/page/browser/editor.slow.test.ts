/** Tests the file that `fencepost playground` writes, from `file://` in a browser. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import AxeBuilder from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import { hasChromium, launch, open, root } from './browser.fixture.ts';

const law = needs('chromium', hasChromium);

describe('the playground', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-playground-'));
  const file = join(folder, 'playground.html');
  const address = pathToFileURL(file).href;
  let browser: Browser;

  beforeAll(async () => {
    const args = [join(root, 'dist/cli.js'), 'playground', '--output', file];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  law('is at most 308 kB gzipped, and fetches nothing', () => {
    const text = readFileSync(file, 'utf8');
    expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(308_000);
    expect(text).toContain('default-src &#39;none&#39;');
    expect(text).toContain('connect-src &#39;none&#39;; worker-src blob:');
  });

  law(
    'shows the first failure with its picture before the rest runs, and then all results',
    async () => {
      const { page, errors, requests } = await open(browser, address);
      await page.locator('#gallery').selectOption('zombie-writer');
      await page.locator('[data-guess=unfenced]').selectOption('something breaks');
      await page.locator('[data-guess=fenced]').selectOption('something breaks');
      await page.evaluate(`new MutationObserver((_, observer) => {
        const isDone = document.querySelector('progress').value === 1;
        document.querySelector('#found').setAttribute('data-before', String(!isDone));
        observer.disconnect();
      }).observe(document.querySelector('#found'), { childList: true })`);
      const started = performance.now();
      await page.locator('#go').click();
      await page.locator('#found svg.scale').first().waitFor();
      console.info(`first failure: ${(performance.now() - started).toFixed(0)} ms`);
      await page.locator('#outcome p', { hasText: 'You were right' }).waitFor({ timeout: 30_000 });
      expect(await page.locator('#found[data-before=true]').count()).toBe(1);
      const outcome = await page.locator('#outcome').innerText();
      expect(outcome).toContain('You were right: unfenced broke a claim.');
      expect(outcome).toContain('You were wrong: fenced kept its claims.');
      expect(outcome).toMatch(/grant-order of unfenced\s+✗ breaks \(expected\)\s+\d+ of 200 seeds/);
      expect(await page.locator('#found h2').innerText()).toContain('Stale write');
      await page.locator('#found [data-choice=store]').selectOption('fenced');
      expect(await page.locator('#found [data-outcome]').innerText()).toContain('✓');
      expect(errors).toEqual([]);
      expect(requests.filter((url) => !/^(?:file|blob):/.test(url))).toEqual([]);
    },
  );

  law('tries every plan with one fault, and reports if there are too many', async () => {
    const { page, errors } = await open(browser, address);
    await page.locator('#gallery').selectOption('check-then-act');
    await page.locator('#one-fault').click();
    await page.locator('#found svg.scale').first().waitFor();
    expect(await page.locator('#found').innerText()).toMatch(
      /grant-order of unfenced, plan \d+, shrunk/,
    );
    await page.locator('progress[value="1"]').waitFor();
    const outcome = await page.locator('#outcome').innerText();
    expect(outcome).toMatch(/grant-order of unfenced\s+✗ breaks \(expected\)\s+9 of 31 plans/);
    expect(outcome).toMatch(/grant-order of fenced\s+✓ holds\s+0 of 31 plans/);
    await page.locator('#gallery').selectOption('zombie-writer');
    await page.locator('#two-faults').click();
    await page.locator('#outcome .bad').waitFor({ timeout: 30_000 });
    expect(await page.locator('#outcome').innerText()).toContain('more than 20,000 plans');
    expect(errors).toEqual([]);
  });

  law('marks mistakes in a scenario during typing, and offers only what runs', async () => {
    const { page, errors } = await open(browser, address);
    const names = await page.locator('#gallery option').allInnerTexts();
    expect(names.length).toBeGreaterThan(60);
    const tour = await page.locator('optgroup').first().locator('option').allInnerTexts();
    expect(tour.slice(0, 3)).toEqual(['check-then-act', 'six-steps', 'write-data']);
    expect(tour).toHaveLength(12);
    for (const [at, name] of tour.entries()) {
      await page.locator('#gallery').selectOption(name);
      const question = await page.locator('#question').innerText();
      expect(question).toMatch(new RegExp(`^Step ${at + 1} of 12\\. .+\\?$`));
    }
    await page.locator('#gallery').selectOption('smoke-sequence');
    expect(await page.locator('#question').innerText()).toBe('');
    await page.locator('#gallery').selectOption('optimistic');
    expect(await page.locator('#scenario').inputValue()).not.toMatch(/^ {2}versioned-sql:/m);
    for (const name of names) {
      await page.locator('#gallery').selectOption(name);
      expect(await page.locator('#go').isEnabled(), name).toBe(true);
    }
    const text = page.locator('#scenario');
    await text.fill('name: a\nsystems:\n  one: { lock: lock-servic, store: fenced }\n');
    expect(await page.locator('#problems').innerText()).toMatch(
      /3:16 .*did you mean "lock-service"/,
    );
    expect(await page.locator('#go').isDisabled()).toBe(true);
    expect(errors).toEqual([]);
  });

  law('takes the scenario of an address, and does not run it without a request', async () => {
    const { page } = await open(browser, address);
    await page.locator('#gallery').selectOption('lost-update');
    const text = await page.locator('#scenario').inputValue();
    await page.locator('#share').click();
    const shared = await open(browser, page.url());
    expect(await shared.page.locator('#scenario').inputValue()).toBe(text);
    expect(await shared.page.locator('#outcome').innerText()).toBe('');
    const broken = await open(browser, `${address}#s=%E0%A4%A`);
    expect(await broken.page.locator('#go').isEnabled()).toBe(true);
    expect(broken.errors).toEqual([]);
  });

  law.each([1280, 390])(
    'breaks no axe rule at %d px, and needs no sideways scrolling',
    async (width) => {
      const { page } = await open(browser, address, {
        viewport: { width, height: 844 },
        bypassCSP: true,
      });
      await page.locator('#gallery').selectOption('zombie-writer');
      await page.locator('#go').click();
      await page.locator('#found svg.scale').first().waitFor();
      await page.evaluate(AxeBuilder.source);
      const found = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))',
      );
      expect(found).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        width,
      );
    },
  );
});
