/** Number of colours for named series. The palette has one more, which is neutral. */
const namedColors = 7

/** Position of the neutral colour, for the sum of all smaller series. */
export const neutralColor = namedColors

/** Returns a colour of the palette by its position. */
export const getColor = (position: number): string => `var(--chart-${position + 1})`

/** Names that are in many charts at the same time, so that their colours must differ. Failures are red. */
const reservedColors: Readonly<Record<string, number>> = {
  select: 0,
  insert: 2,
  create: 3,
  alter: 4,
  drop: 5,
  system: 6,
  failed: 1,
  errors: 1,
  rejected: 1,
  finished: 0,
  warnings: 4,
  median: 0,
  p50: 0,
  '95 %': 3,
  p95: 3,
  '99 %': 1,
  p99: 1,
}

/** Returns the position of the colour that a name has on all pages: a reserved one, else the FNV-1a hash of the name. */
export const hashColor = (name: string): number => {
  const word = name.toLowerCase()
  const reserved = Object.hasOwn(reservedColors, word) ? reservedColors[word] : undefined
  if (reserved !== undefined) return reserved
  let hash = 0x81_1c_9d_c5
  for (const character of word) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93)
  return ((hash ^ (hash >>> 15)) >>> 0) % namedColors
}

/** Colours that names have got instead of their own, because another series of their chart had it. */
const replacements = new Map<string, number>()
const maxReplacements = 1_000

/**
 * Returns the position of the colour of each name. If two names of a chart have the same colour, the later one gets the
 * next free colour, and keeps it on other pages.
 */
export const assignColors = (names: readonly string[]): ReadonlyMap<string, number> => {
  const colors = new Map<string, number>()
  const taken = new Set<number>()
  const assign = (name: string, color: number): void => {
    colors.set(name, color)
    taken.add(color)
  }
  // Names with a replacement come last. If their colour is free again, they must not move back to it.
  const [own, replaced] = [
    names.filter((name) => !replacements.has(name)),
    names.filter((name) => replacements.has(name)),
  ]
  for (const name of new Set([...own, ...replaced])) {
    const wanted = replacements.get(name) ?? hashColor(name)
    if (!taken.has(wanted)) {
      assign(name, wanted)
      continue
    }
    const free = Array.from({ length: namedColors }, (_, step) => (wanted + step) % namedColors)
    const color = free.find((each) => !taken.has(each)) ?? neutralColor
    if (replacements.size >= maxReplacements) replacements.clear()
    replacements.set(name, color)
    assign(name, color)
  }
  return colors
}
