/**
 * The first script of the page: unpacks the second, which is the simulator and `boot.ts`, with what
 * belongs into the page only where a script runs, and lets it run. Packed all that takes a third of
 * the room, and the page's policy names both scripts by their digests.
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
