/** Tests *Try it yourself* with invalid numbers, and with runs that test nothing. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import type { Finding } from '../../../search/campaign/result.ts';
import { renderPage } from '../../html/page.ts';
import { sampleSummary as overview } from '../../summary.fixture.ts';
import { addressOf, bundle, hasChromium, launch, open } from './browser.fixture.ts';
import { zombie } from './findings.fixture.ts';

const law = needs('chromium', hasChromium);
const script = hasChromium ? bundle() : null;

function addressWith(name: string, finding: Finding): string {
  return addressOf(name, renderPage({ findings: [finding], overview, script }));
}

/** Returns the error at a field, or '' if it shows none. */
async function complaintOf(page: Page, field: Locator): Promise<string> {
  const id = await field.getAttribute('aria-describedby');
  const complaint = page.locator(`[id="${id}"]`);
  return (await complaint.isVisible()) ? complaint.innerText() : '';
}

describe('Try it yourself', () => {
  let browser: Browser;
  const address = addressWith('trial', zombie);

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  law('shows an error at its field, and marks the verdict as outdated', async () => {
    const { page, errors } = await open(browser, address);
    const field = page.locator('[data-knob^=faults]').first();
    const stale = page.locator('[data-stale]');
    const wrong = [
      ['', 'Enter a number of ms.'],
      ['-5', 'It must be 0 ms or more.'],
      ['1e200', 'Too large.'],
    ] as const;
    for (const [text, complaint] of wrong) {
      await field.fill(text);
      expect(await complaintOf(page, field), text).toBe(complaint);
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await stale.innerText()).toContain('Not run');
      await page.locator('[data-knob=latency]').fill('2');
      expect(await stale.isVisible()).toBe(true);
    }
    await field.fill('');
    await field.pressSequentially('e');
    expect(await complaintOf(page, field)).toBe('Not a number.');
    await field.fill('1');
    expect(await complaintOf(page, field)).toBe('');
    expect(await field.getAttribute('aria-invalid')).toBeNull();
    expect(await stale.isVisible()).toBe(false);
    await field.fill('');
    await page.locator('[data-reset]').click();
    expect(await stale.isVisible()).toBe(false);
    expect(await page.locator('[data-outcome]').innerText()).toContain('still breaks');
    expect(errors).toEqual([]);
  });

  law('runs the longest accepted number', async () => {
    const { page, errors } = await open(browser, address);
    for (const knob of ['[data-knob^=faults]', '[data-knob^=ttl]', '[data-knob=latency]']) {
      await page.locator(knob).first().fill('9000000000');
      expect(await page.locator('[data-outcome]').innerText()).toMatch(/in this run|breaks/);
    }
    expect(errors).toEqual([]);
  });

  law('puts changed settings into the address, which restores them without a run', async () => {
    const { page } = await open(browser, address);
    await page.locator('[data-choice=store]').selectOption('fenced');
    const turned = await page.evaluate('location.hash');
    expect(turned).toBe('#try=%7B%22store%22%3A%22fenced%22%7D');
    const shared = await open(browser, `${address}${turned}`);
    expect(await shared.page.locator('[data-choice=store]').inputValue()).toBe('fenced');
    const outcome = shared.page.locator('[data-outcome]');
    expect(await outcome.innerText()).toContain('still breaks');
    await shared.page.locator('[data-run-address]').click();
    expect(await outcome.innerText()).toContain('✓ grant-order holds');
    expect(shared.errors).toEqual([]);
  });

  law.each([
    ['text that is not JSON', '{"store"'],
    ['unknown fields and values', '{"store":"<img>","latency":"1e9","x":"1"}'],
    ['a value that is not text', '{"latency":7,"store":null}'],
  ])('ignores %s in an address', async (_, text) => {
    const hash = `#try=${encodeURIComponent(text)}`;
    const { page, errors } = await open(browser, `${address}${hash}`);
    expect(await page.locator('[data-run-address]').count()).toBe(0);
    expect(await page.locator('[data-choice=store]').inputValue()).toBe('unfenced');
    expect(await page.locator('[data-knob=latency]').inputValue()).toBe('1');
    expect(errors).toEqual([]);
  });

  law('reports that a claim was not exercised if no lock was granted', async () => {
    const { page } = await open(browser, address);
    const outcome = page.locator('[data-outcome]');
    for (const field of await page.locator('[data-knob^=ttl]').all()) await field.fill('0');
    expect(await outcome.innerText()).toContain('– grant-order is not tested in this run');
    expect(await outcome.innerText()).not.toContain('holds');
  });

  law('explains in one sentence why it is left out', async () => {
    const { plan } = zombie;
    const system = { ...plan.system, store: 'versioned-sql' };
    for (const [name, other, why] of [
      ['modules', { ...plan, use: { './a.mjs': 'sha256:0' } }, 'the plan needs modules'],
      ['sql', { ...plan, system }, 'needs an SQL engine'],
      ['another', { ...plan, clients: [] }, 'not built in'],
    ] as const) {
      const { page } = await open(browser, addressWith(name, { ...zombie, plan: other }));
      expect(await page.locator('[data-try]').count(), name).toBe(0);
      expect(await page.locator('[data-no-try]').innerText()).toContain(why);
    }
    const { page } = await open(browser, address);
    expect(await page.locator('[data-no-try]').count()).toBe(0);
  });
});
