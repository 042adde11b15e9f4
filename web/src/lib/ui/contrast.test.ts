import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('../../app.css', import.meta.url), 'utf8')

type Tokens = ReadonlyMap<string | undefined, { light: string | undefined; dark: string | undefined }>

/** Returns the colours of both themes for each token in a part of the style sheet. */
const tokensIn = (part: string): Tokens =>
  new Map(
    [...part.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [
      name,
      { light, dark },
    ]),
  )

const blockOf = (selector: string): string => css.slice(css.indexOf(`${selector} {`)).split('}')[0] ?? ''
const tokens = tokensIn(blockOf(':root'))

const luminance = (color: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast ratio of two tokens, as defined by WCAG. */
const contrast = (one: string, other: string, theme: 'light' | 'dark', of: Tokens = tokens): number => {
  const [darker = 0, lighter = 0] = [one, other]
    .map((name) => luminance((of.get(name) ?? tokens.get(name))?.[theme] ?? 'no such token'))
    .toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

const text = ['ink', 'ink-soft', 'ink-faint', 'accent', 'good', 'warn', 'bad']
const grounds = ['page', 'surface', 'raised', 'hover']
const charts = Array.from({ length: 8 }, (_, index) => `chart-${index + 1}`)

describe.each(['light', 'dark'] as const)('colours of the %s theme', (theme) => {
  it.each(text.flatMap((ink) => grounds.map((ground) => [ink, ground] as const)))(
    'keep %s readable on %s',
    (ink, ground) => expect(contrast(ink, ground, theme)).toBeGreaterThanOrEqual(4.5),
  )

  it.each([
    ['accent', 'accent-soft'],
    ['on-accent', 'accent'],
    ['ink-soft', 'bad-soft'],
    ['bad', 'bad-soft'],
    ['warn', 'warn-soft'],
    ['ink', 'sunken'],
  ])('keep %s readable on %s', (ink, ground) => expect(contrast(ink, ground, theme)).toBeGreaterThanOrEqual(4.5))

  it.each(['colour-blind', 'grey'].flatMap((palette) => charts.map((name) => [name, palette] as const)))(
    'keep %s of the palette %s distinct from the surface',
    (name, palette) => {
      const own = tokensIn(blockOf(`:root[data-palette='${palette}']`))
      expect([...own.keys()]).toEqual(charts)
      expect(contrast(name, 'surface', theme, own)).toBeGreaterThanOrEqual(3)
    },
  )

  it.each([...charts, 'line-strong'])('keep %s distinct from the surface', (name) => {
    expect(contrast(name, 'surface', theme)).toBeGreaterThanOrEqual(3)
  })
})
