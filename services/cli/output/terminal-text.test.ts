import { describe, expect, it } from 'vitest'
import { fitWidth, measureWidth, padToWidth, toSafeLine, toSafeText, toTabSeparatedField } from './terminal-text.ts'

describe('text of hosts', () => {
  it.each([
    ['SELECT 1', 'SELECT 1'],
    ['a\n  b\tc', 'a b c'],
    ['\u001B[31mred\u001B[0m', 'red'],
    ['\u001B]0;title\u0007x', 'x'],
    ['a\u009B2Jb\u0000c\u007F', 'abc'],
    ['bell\u0007', 'bell'],
  ])('%j cannot control the terminal', (text, safe) => {
    expect(toSafeLine(text)).toBe(safe)
  })

  it('keeps its lines where they are shown', () => {
    expect(toSafeText('SELECT\n\t1\u001B[2J\r')).toBe('SELECT\n  1')
  })

  it('is one field of tab-separated values', () => {
    expect(toTabSeparatedField('a\tb\nc\\d\u001B')).toBe(String.raw`a\tb\nc\\d`)
  })
})

describe('widths', () => {
  it.each([
    ['abc', 3],
    ['', 0],
    ['日本', 4],
    ['e\u0301', 1],
    ['🚀', 2],
    ['…', 1],
  ])('%j has %i columns', (text, width) => {
    expect(measureWidth(text)).toBe(width)
  })

  it('are never exceeded', () => {
    expect(fitWidth('abcdef', 4)).toBe('abc…')
    expect(fitWidth('日本語', 4)).toBe('日…')
    expect(fitWidth('abc', 0)).toBe('')
    expect(padToWidth('ab', 4)).toBe('ab  ')
    expect(padToWidth('ab', 4, true)).toBe('  ab')
    expect(padToWidth('日本語', 4)).toBe('日… ')
  })
})
