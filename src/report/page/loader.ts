/**
 * The first script of the page. It decompresses the content that requires a script, and the second
 * script, which contains the simulator and `boot.ts`. Then it runs the second script. Compression
 * reduces the size of both to a third. The content security policy lists the digests of both
 * scripts.
 */
import { inflate } from './inflate.ts';

const data = document.querySelector('script[data-size]');
if (data instanceof HTMLScriptElement) {
  const packed = Uint8Array.from(atob(data.text), (letter) => letter.charCodeAt(0));
  const text = new TextDecoder().decode(inflate(packed, Number(data.dataset['size'])));
  const length = Number(data.dataset['code']);
  const parts: readonly [string, string][] = JSON.parse(text.slice(length));
  for (const [id, markup] of parts) {
    const place = document.getElementById(id);
    if (place !== null) place.innerHTML = markup;
  }
  const script = document.createElement('script');
  script.text = text.slice(0, length);
  document.body.append(script);
}
