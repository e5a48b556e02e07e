import { describe, expect, it } from 'vitest';
import { clip, displayWidth, pad, visible, wrap } from './visible.ts';

describe('visible', () => {
  it('names what cannot be seen and leaves the rest alone', () => {
    expect(visible('bob')).toBe('bob');
    expect(visible('שלום 日本 é')).toBe('שלום 日本 é');
    expect(visible('a\u202eb\u001bc\nd')).toBe('a‹U+202E›b‹U+001B›c‹U+000A›d');
  });
});

describe('clip, pad and wrap', () => {
  it('keep to the width that they are given', () => {
    expect(clip('alice', 5)).toBe('alice');
    expect(clip('alices', 5)).toBe('alic…');
    expect(displayWidth(clip('日本日本', 5))).toBeLessThanOrEqual(5);
    expect(displayWidth(pad('日本', 7))).toBe(7);
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('incomprehensible word', 6)).toEqual(['incom…', 'word']);
  });
});
