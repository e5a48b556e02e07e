/**
 * Starts the page: activates the controls of each finding, handles keys and the fragment of the
 * address, and switches between dark and light. The page renders with the same functions as the
 * command, and fetches and stores nothing. Read on in `finding-view.ts` (steps through a finding)
 * and `playground.ts` (runs it with other numbers).
 */
import type { PageData } from '../html/page-data.ts';
import { all, FindingView, findElement } from './finding-view.ts';
import { openPlayground } from './playground.ts';

const stages = all(document, 'article[data-finding]', HTMLElement).map((article) => {
  const text = findElement(document, `#${article.id}-data`, HTMLScriptElement).textContent;
  const data: PageData = JSON.parse(text ?? '');
  const view = new FindingView(article, data);
  openPlayground(article, data);
  return view;
});

/** The finding that keys act on: the last one that was used or named in the address. */
let active = stages[0];

for (const view of stages) {
  view.article.addEventListener('focusin', () => {
    active = view;
  });
  view.article.addEventListener('click', () => {
    active = view;
  });
}

function followAddress(): void {
  for (const view of stages) if (view.follow(location.hash)) active = view;
}

// A click on the event that is already in the address does not change the address.
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('[data-events] a') : null;
  if (!(link instanceof HTMLAnchorElement) || link.hash !== location.hash) return;
  event.preventDefault();
  followAddress();
});

/** Elements in which arrows and letters already have a meaning. */
const KEYBOARD_INPUTS = 'input, select, textarea, .scroll, .table, pre, [contenteditable]';

document.addEventListener('keydown', (event) => {
  const { target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || active === undefined) return;
  if (target instanceof Element && target.closest(KEYBOARD_INPUTS) !== null) return;
  if (active.press(event.key)) event.preventDefault();
});

/** Adds a copy button after each command. */
function openCopying(): void {
  for (const code of all(document, '.commands code', HTMLElement)) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      getSelection()?.selectAllChildren(code);
      const isCopied = await navigator.clipboard.writeText(code.textContent ?? '').then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Selected';
    });
    code.after(button);
  }
}

function openThemeSwitch(): void {
  const button = findElement(document, '[data-theme-switch]', HTMLButtonElement);
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean =>
    (root.dataset['theme'] ?? (system.matches ? 'dark' : '')) === 'dark';
  const show = (): void => {
    button.setAttribute('aria-pressed', String(isDark()));
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    root.dataset['theme'] = isDark() ? 'light' : 'dark';
    show();
  });
  system.addEventListener('change', show);
  show();
}

addEventListener('hashchange', followAddress);
// After loading, browsers scroll to the row in the address again.
addEventListener('load', () => requestAnimationFrame(followAddress));
openThemeSwitch();
openCopying();
followAddress();
