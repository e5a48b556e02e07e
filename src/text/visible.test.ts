import { describe, expect, it } from 'vitest';
import { clip, displayWidth, pad, visible, wrap } from './visible.ts';

describe('visible', () => {
  it('names invisible characters and leaves the rest alone', () => {
    expect(visible('bob')).toBe('bob');
    expect(visible('שלום 日本 é')).toBe('שלום 日本 é');
    expect(visible('a\u202eb\u001bc\nd')).toBe('a‹U+202E›b‹U+001B›c‹U+000A›d');
  });
});

describe('displayWidth', () => {
  it.each([
    ['alice', 5],
    ['日本', 4],
    ['ＡＢ（）', 8], // fullwidth forms, of the script Latin or of none
    ['、。', 4],
    ['ｱｲ', 2], // halfwidth katakana
    ['가각', 4],
    ['\u1100\u1161\u11a8', 2], // the syllable 각 in three parts
    ['e\u0301', 1],
    ['\u0301', 0],
    ['🇩🇪🇫🇷', 4],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['❤', 1],
    ['❤\ufe0f', 2],
    ['1\ufe0f\u20e3', 2],
    ['⚡', 2],
    ['⚡\ufe0e', 1], // text presentation, not emoji
    ['〰\ufe0e', 2], // wide in both presentations
    ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 2],
    ['🧑\u200d💻', 2],
    ['नमस्ते', 4],
    ['ก็', 1],
    ['so\u00adft', 4],
    ['\u3164\uffa0', 0], // Hangul fillers
    ['✓✗⊘→…', 5],
  ])('%s takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });
});

describe('clip, pad and wrap', () => {
  it('never split a character', () => {
    expect(clip('🇩🇪🇫🇷🇮🇹', 4)).toBe('🇩🇪…');
    expect(clip('cafe\u0301s', 5)).toBe('cafe\u0301s');
    expect(clip('cafe\u0301 noir', 5)).toBe('cafe\u0301…');
    expect(clip('👨‍👩‍👧👨‍👩‍👧', 3)).toBe('👨‍👩‍👧…');
  });

  it('keep to the given width', () => {
    expect(clip('alice', 5)).toBe('alice');
    expect(clip('alices', 5)).toBe('alic…');
    expect(displayWidth(clip('日本日本', 5))).toBeLessThanOrEqual(5);
    expect(displayWidth(pad('日本', 7))).toBe(7);
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('incomprehensible word', 6)).toEqual(['incom…', 'word']);
  });
});
