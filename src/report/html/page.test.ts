import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../search/campaign/result.ts';
import { groupDigits } from '../../text/prose.ts';
import { PALETTE, type Role } from '../pictures/shapes.ts';
import { manyZombies, renamed, zombieFinding } from '../sample.fixture.ts';
import { countEvents, listSteps, type Step } from '../steps.ts';
import { stormTrace } from '../storm.fixture.ts';
import { sampleSummary } from '../summary.fixture.ts';
import { renderPage } from './page.ts';

function stepsOf({ trace, verdict }: Finding): readonly Step[] {
  return listSteps(trace, { evidence: verdict.evidence });
}

const overview = sampleSummary;
const zombie = renderPage({ findings: [zombieFinding], overview });
const stormFinding = {
  ...zombieFinding,
  trace: stormTrace,
  verdict: { ...zombieFinding.verdict, evidence: [] },
};
const storm = renderPage({ findings: [stormFinding], overview });
const both = renderPage({ findings: [zombieFinding, stormFinding], overview });

/** A stand-in for the script of the page. */
const script = { code: 'console.log("</script>ä")', loader: 'unpack()' };
const live = renderPage({ findings: [zombieFinding, stormFinding], overview, script });

const VOID = new Set(['meta', 'br', 'hr', 'input', 'col', '!doctype']);

/** Returns the first misplaced tag, or '' if every element is closed in order. */
function misplacedTag(html: string): string {
  const open: string[] = [];
  const body = html
    .replace(/<(style|script)[^>]*>[\s\S]*?<\/\1>/g, '')
    .replace(/<(?:line|rect|circle|polygon|path)(?:\s[^<>]*)?\/>/g, '');
  for (const [, slash, name = ''] of body.matchAll(/<(\/?)([!\w]+)(?:\s[^<>]*)?>/g)) {
    if (VOID.has(name)) continue;
    if (slash === '') open.push(name);
    else if (open.pop() !== name) return `</${name}>`;
  }
  const strays = body.replace(/<\/?[!\w]+(?:\s[^<>]*)?>/g, '').match(/[<>]/);
  return strays === null ? (open.pop() ?? '') : 'a stray < or >';
}

/** Returns all values of an attribute. */
function valuesOf(html: string, attribute: string): string[] {
  return [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(
    ([, value = '']) => value,
  );
}

describe('renderPage', () => {
  it('is well-formed', () => {
    for (const page of [zombie, storm, both, live]) expect(misplacedTag(page)).toBe('');
    expect(misplacedTag('<p><b></p></b>')).toBe('</p>');
  });

  it('needs no network and no script', () => {
    for (const page of [zombie, storm, both]) {
      expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|\bon\w+=/i);
      expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\((?!#)/);
    }
  });

  it('shows a hostile name as text', () => {
    const name = `<script>alert(1)</script>"'&\u202e\u0000`;
    const hostile = renamed(renamed(zombieFinding, 'alice', name), 'unfenced', name);
    const page = renderPage({ findings: [hostile], overview });
    expect(page).not.toContain('<script');
    expect(page).not.toContain('\u202e');
    expect(page).not.toContain('\u0000');
    expect(page).toContain('&lt;script&gt;');
    expect(misplacedTag(page)).toBe('');
  });

  it('clips a very long name to its lane, with the full name in a title', () => {
    const name = 'a'.repeat(400);
    const page = renderPage({ findings: [renamed(zombieFinding, 'bob', name)], overview });
    expect(page).toContain(`<title>${name}</title>`);
    const widths = valuesOf(page, 'viewBox').map((box) => Number(box.split(' ')[2]));
    expect(Math.max(...widths)).toBeLessThan(2000);
  });

  it('uses every id once and has no dangling links', () => {
    for (const page of [zombie, storm, both, live]) {
      const ids = valuesOf(page, 'id');
      expect(new Set(ids).size).toBe(ids.length);
      const links = valuesOf(page, 'href').map((href) => href.slice(1));
      const fills = [...page.matchAll(/url\(#([^)]*)\)/g)].map(([, id = '']) => id);
      const labels = valuesOf(page, 'aria-labelledby');
      for (const id of [...links, ...fills, ...labels]) expect(ids).toContain(id);
    }
  });

  it('has a row per event, whose number `#e=9` addresses', () => {
    const steps = stepsOf(zombieFinding);
    for (const { number, event } of steps) {
      const id = number === null ? '' : ` id="e=${number}"`;
      expect(zombie).toMatch(new RegExp(`<tr${id}[^>]* data-row="${event ?? ''}"`));
    }
    const count = countEvents(steps);
    expect(both).toContain(`<tr id="f2-e=${count}"`);
    expect(zombie).not.toContain(`id="e=${count + 1}"`);
    expect(zombie).toContain(`Showing ${count} of ${count} events`);
    expect(zombie.match(/<caption>/g)).toHaveLength(4);
  });

  it('describes the run in words, names the violation and lists commands', () => {
    expect(zombie).toContain('<dt>However</dt><dd>alice, paused from 3 ms to 20 ms');
    expect(zombie).toContain('✗ stale write: fence-monotone breaks');
    expect(zombie).toContain('still acts as the holder, but bob holds it');
    expect(zombie).toContain('npx --no-install fencepost replay reports/zombie');
    expect(zombie).toContain('breaks with a pause of 10.000 ms, holds with 9.999 ms');
    expect(zombie).toContain('    before: alice/1/write\n    for: 17ms\n');
  });

  it('stays below 2 MB and reports what it omitted', () => {
    const finding = manyZombies(300);
    for (const findings of [[finding], [finding, finding, finding]]) {
      const page = renderPage({ findings, overview });
      expect(new TextEncoder().encode(page).length).toBeLessThan(2_000_000);
      const total = groupDigits(countEvents(stepsOf(finding)));
      expect(page).toMatch(new RegExp(`Showing [\\d,]{3,5} of ${total} events`));
      expect(page).not.toContain(`Showing ${total} of`);
      expect(page).toContain('✗ stale write: fence-monotone breaks');
    }
  });

  it('embeds data and a script that no content can terminate', () => {
    const name = '</script><!--\u2028\u202e"';
    const hostile = renamed(zombieFinding, 'alice', name);
    const page = renderPage({ findings: [hostile], overview, script });
    const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
    expect(scripts.map(([, attributes]) => attributes)).toEqual([
      expect.stringMatching(/^ type="text\/plain" data-size="\d+" data-code="25"$/),
      '',
    ]);
    expect(scripts[1]?.[2]).toBe(script.loader);
    const unpacked = inflateRawSync(Buffer.from(scripts[0]?.[2] ?? '', 'base64'));
    expect(scripts[0]?.[1]).toContain(`data-size="${unpacked.length}"`);
    expect(unpacked.toString().slice(0, script.code.length)).toBe(script.code);
    const parts: [string, string][] = JSON.parse(unpacked.toString().slice(script.code.length));
    const held = new Map(parts).get('finding-1-held') ?? '';
    const json = /^<script type="application\/json" id="finding-1-data">([^<]*)<\/script>$/.exec(
      held,
    );
    const data: { trace: unknown } = JSON.parse(json?.[1] ?? '');
    expect(data.trace).toEqual(hostile.trace);
    expect(held).toMatch(/^[\x20-\x7e]*$/);
  });

  it('allows only its own style and script, by their digests', () => {
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(live) ?? [];
    const digest = (text: string): string =>
      `&#39;sha256-${createHash('sha256').update(text).digest('base64')}&#39;`;
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(live) ?? [];
    expect(policy).toContain('default-src &#39;none&#39;');
    expect(policy).toContain(`style-src ${digest(style)}`);
    expect(policy).toContain(`script-src ${digest(script.loader)} ${digest(script.code)};`);
    expect(zombie).toContain('script-src &#39;none&#39;');
    expect(zombie).not.toContain('<script');
  });

  it('hides its controls until a script enables them', () => {
    const tools = live.match(/<div class="(?:stepper|switches|filter)" hidden/g);
    expect(tools).toHaveLength(6);
    expect(zombie).not.toContain('class="stepper"');
  });

  it('omits a trace of more than 12,000 events, and then its stepper', () => {
    const finding = manyZombies(400);
    const page = renderPage({ findings: [finding], overview, script });
    const total = groupDigits(countEvents(stepsOf(finding)));
    expect(page).not.toContain('application/json');
    expect(page).not.toContain('class="stepper"');
    expect(page).toMatch(new RegExp(`Showing [\\d,]+ of ${total} events`));
  });

  it('shows the sweep as claims by systems, with rates and the effects of faults', () => {
    expect(zombie).toContain('873 of 1,000 seeds, 873,000 per million; first seed 0');
    expect(zombie).toContain('– not exercised');
    expect(zombie).toContain('fired on 994, while a lock was held on 951 of 1,000');
    expect(zombie).toContain('never fired');
  });

  it('shows the expectations if no claim broke', () => {
    const page = renderPage({ findings: [], overview });
    expect(misplacedTag(page)).toBe('');
    expect(page).toContain('1 of 2 expectations met');
  });
});

describe('the palette', () => {
  const luminance = (short: string): number => {
    const colour = short.length === 4 ? short.replace(/\w/g, '$&$&') : short;
    const channel = (at: number): number => {
      const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  };
  const contrast = (left: string, right: string): number => {
    const [high = 0, low = 0] = [luminance(left), luminance(right)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };

  it('has a contrast of 4.5 or more for all text, in light and in dark', () => {
    const texts: Role[] = ['ink', 'soft', 'danger', 'good', 'caution'];
    const clients: Role[] = ['client0', 'client1', 'client2', 'client3', 'client4', 'client5'];
    const pairs: [Role, Role][] = [
      ...[...texts, ...clients].flatMap((text): [Role, Role][] => [
        [text, 'paper'],
        [text, 'page'],
      ]),
      ...clients.map((client): [Role, Role] => ['onClient', client]),
      ['onClient', 'soft'],
      ['danger', 'tint'],
      ['ink', 'tint'],
      ['soft', 'tint'],
      ['client0', 'tint'],
      ['ink', 'idle'],
      ['ink', 'cursor'],
      ['soft', 'cursor'],
      ['danger', 'cursor'],
    ];
    for (const shade of ['light', 'dark'] as const) {
      for (const [text, ground] of pairs) {
        const ratio = contrast(PALETTE[text][shade], PALETTE[ground][shade]);
        expect(ratio, `${text} on ${ground}, ${shade}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});
