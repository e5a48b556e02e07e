/** The syntax of Lua 5.1, for an interpreter of Lua 5.3: what is newer there must not compile. */

/** The last characters of what is an operator or a label from Lua 5.2 on, and none before. */
const NEWER = '/<>&|~:';
/** Bytes from here on begin no token, and no text in UTF-8 has them. */
const NO_TOKEN = 0xf5;
const LEXEME =
  /^#!.*|(?:--)?\[(=*)\[[\s\S]*?\]\1\]|--.*|(["'])(?:\\[\s\S]|(?!\2)[^\\\n])*\2?|(\/\/|<<|>>|::|~(?!=)|[&|]|\bgoto(?=\s+\w))|[a-zA-Z_]\w*|\.?\d[\d.]*(?:[eE][+-]?)?\w*/g;
/** A letter behind a backslash that means nothing in Lua 5.1: it stands for itself. */
const PLAIN_ESCAPE = /\\(?:([c-eg-mo-qswx-zA-Zu])|[\s\S])/g;

/** The script without its `#!`, and so that what Lua 5.1 does not know is no Lua 5.3 either. */
export function withOldSyntax(text: string): string {
  return text.replace(LEXEME, (lexeme: string, ...found: (string | undefined)[]) => {
    const [, quote, newer, at] = found;
    if (quote !== undefined) return lexeme.replace(PLAIN_ESCAPE, (all, letter) => letter ?? all);
    if (/^\.?\d/.test(lexeme)) {
      return /[.+-]/.test(text.charAt(Number(at) + lexeme.length)) ? `${lexeme} ` : lexeme;
    }
    if (newer === undefined) return lexeme.startsWith('#!') ? '' : lexeme;
    if (newer === 'goto') return '_goto';
    const code = NO_TOKEN + NEWER.indexOf(newer.slice(-1));
    return newer.slice(0, -1) + String.fromCharCode(code);
  });
}

/** Why a text does not compile, in the words of Lua 5.1. */
export function inOldWords(problem: string): string {
  return problem
    .replaceAll(/(?<!')<eof>/g, "'<eof>'")
    .replace(/ \(starting at line \d+\)/, '')
    .replace(/syntax error(?= near '[^=,])/, "'=' expected")
    .replace(/<\\(\d+)>(?='$)/, (_, code) => NEWER.charAt(Number(code) - NO_TOKEN));
}
