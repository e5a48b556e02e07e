/** Draws diagrams with Mermaid in a browser, and checks the text on the screen. */
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import { needs } from '../../tools/needs.ts';
import { clip, visible } from '../text/visible.ts';
import { hostileNames } from './hostile.fixture.ts';
import { findingDiagram } from './mermaid.ts';
import { hasChromium, launch } from './page/browser/browser.fixture.ts';
import { renamed, zombieFinding } from './sample.fixture.ts';

const law = needs('chromium', hasChromium);

law('a browser shows every hostile name literally, and runs none of them', async () => {
  const shows = await openMermaid();
  try {
    for (const name of hostileNames) {
      const finding = renamed(renamed(zombieFinding, 'alice', name), 'unfenced', name);
      const { texts, elements } = await shows.draw(findingDiagram(finding));
      const [alice] = finding.trace.processes;
      const shown = clip(visible(alice?.name ?? ''), 30)
        .trim()
        .replace(/\p{Surrogate}/gu, '\uFFFD');
      expect(texts, name).toContain(shown);
      const title = visible(finding.explanation.headline.replaceAll('`', '')).trim();
      expect(texts, name).toContain(title.replace(/\p{Surrogate}/gu, '\uFFFD'));
      expect(elements, name).toBe(0);
    }
  } finally {
    await shows.close();
  }
});

interface Shows {
  /** The texts of the drawing, and the number of elements that could run or load something. */
  draw(diagram: string): Promise<{ texts: string[]; elements: number }>;
  close(): Promise<void>;
}

async function openMermaid(): Promise<Shows> {
  const opened = await launch();
  const page = await opened.newPage();
  const path = createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js');
  await page.addScriptTag({ path });
  return {
    async draw(diagram) {
      // Passed as text, because code for the page would be checked against Node's types.
      const script = `(async (diagram) => {
        mermaid.initialize({ startOnLoad: false, securityLevel: 'strict' });
        const { svg } = await mermaid.render('drawn', diagram);
        document.body.innerHTML = svg;
        const texts = [...document.querySelectorAll('text')].map((text) => text.textContent.trim());
        const elements = document.body.querySelectorAll('script, img, a, iframe, foreignObject').length;
        return { texts, elements };
      })(${JSON.stringify(diagram)})`;
      return await page.evaluate(script);
    },
    close: () => opened.close(),
  };
}
