/**
 * The first script of the page: unpacks the second, which is the simulator and `boot.ts`, and lets
 * it run. Packed it is a third as long, and the page's policy names both by their digests.
 */
import { inflate } from './inflate.ts';

const packed = document.querySelector('script[data-size]');
if (packed instanceof HTMLScriptElement) {
  const bytes = Uint8Array.from(atob(packed.text), (letter) => letter.charCodeAt(0));
  const script = document.createElement('script');
  script.text = new TextDecoder().decode(inflate(bytes, Number(packed.dataset['size'])));
  document.body.append(script);
}
