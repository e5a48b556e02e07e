/** Decides where a token of EDN ends and what it means: a number, a keyword, a symbol, nil. */
import type { Json } from '../../core/kernel/json.ts';

const INTEGER = /^[+-]?(0|[1-9]\d*)N?$/;
const FRACTION = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?M?$/;
const RATIO = /^[+-]?\d+\/\d+$/;
/** Most names, and what they may be beside. */
const PLAIN_NAME = /^[A-Za-z][\w-]*$/;
const NAME = /^[\p{L}.*+!\-_?$%&=<>/][\p{L}\p{N}.*+!\-_?$%&=<>/#:']*$/u;
const COLON = 0x3a;

/** Undefined when it means nothing. */
export function valueOfToken(token: string): Json | undefined {
  const first = token.charCodeAt(0);
  if (first === COLON) return isKeyword(token) ? token : undefined;
  if (isDigit(first) || (isSign(first) && isDigit(token.charCodeAt(1)))) return numberOf(token);
  if (token === 'nil') return null;
  if (token === 'true' || token === 'false') return token === 'true';
  return isName(token) ? token : undefined;
}

export function isName(text: string): boolean {
  return PLAIN_NAME.test(text) || NAME.test(text);
}

/** Clojure reads `:1` too. */
function isKeyword(token: string): boolean {
  const name = token.slice(1);
  return isName(name) || /^\d+$/.test(name);
}

function numberOf(token: string): Json | undefined {
  const number = Number(token.replace(/[NM]$/, ''));
  if (INTEGER.test(token)) return Number.isSafeInteger(number) ? number : token;
  if (FRACTION.test(token)) return Number.isFinite(number) ? number : token;
  return RATIO.test(token) ? token : undefined;
}

/** Commas are space too. */
export function isSpace(code: number): boolean {
  return code <= 0x20 || code === 0x2c || (code >= 0x2000 && /\s/.test(String.fromCharCode(code)));
}

/** Space, a bracket, a string or a comment. */
export function isTokenEnd(code: number): boolean {
  switch (code) {
    case 0x22: // "
    case 0x28: // (
    case 0x29: // )
    case 0x3b: // ;
    case 0x5b: // [
    case 0x5d: // ]
    case 0x7b: // {
    case 0x7d: // }
      return true;
    default:
      return isSpace(code);
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isSign(code: number): boolean {
  return code === 0x2b || code === 0x2d;
}
