/**
 * Opens pages in an installed Chromium, with the script from the build. `needs` in `tools/needs.ts`
 * handles a missing Chromium.
 */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type PageScript, scriptIn } from '../../html/document.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const PATH = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path));

/** True if a browser exists: `$CHROMIUM`, or one at a usual path on Linux. */
export const hasChromium: boolean = PATH !== undefined && existsSync(PATH);

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: PATH ?? '', args: FLAGS });
}

const folder = mkdtempSync(join(tmpdir(), 'fencepost-page-'));
/** The root of the project. */
export const root: string = fileURLToPath(new URL('../../../../', import.meta.url));

/** Returns the script of a page with these locks, from the bundles of `npm run build`. */
export function bundle(...locks: readonly string[]): PageScript {
  const script = scriptIn(pathToFileURL(`${root}dist/`), locks);
  if (script === null) throw new Error('dist is missing: run npm run build');
  return script;
}

/** Writes a page and returns its `file://` address. */
export function addressOf(name: string, html: string): string {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, html);
  return pathToFileURL(file).href;
}

/** An open page, with its errors and its requests. */
export interface Opened {
  readonly page: Page;
  readonly errors: readonly string[];
  readonly requests: readonly string[];
}

/** Clicks on all collapsed parts of a page to expand them. */
export async function unfold(page: Page): Promise<void> {
  const folded = page.locator('details:not([open]) > summary:visible');
  while ((await folded.count()) > 0) await folded.first().click();
}

/** Opens an address in a fresh context, 1280 × 900 by default. */
export async function open(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const size = { width: 1280, height: 900 };
  const context = await browser.newContext({ viewport: size, ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(address);
  return { page, errors, requests };
}
